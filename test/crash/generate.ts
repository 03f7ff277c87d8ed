import { keyCommitment } from "../../src/broker/keys.js";
import { formatVerifierKey, signerKey } from "../../src/tlog/index.js";
import { committed } from "../../src/broker/texts.js";
import {
  emptyState,
  encodeEntry,
  step,
  type Command,
  type Principal,
  type Step,
  type TextLine,
} from "../../src/kernel/index.js";
import { LIMITS, ROLE_VERBS, correctionId, type CorrectionContent } from "../../src/protocol/index.js";
import type { EventStore } from "../../src/storage/event-store.js";
import { randomFrom } from "../support/random.js";
import { SCOPE } from "./load.js";

type Untimed = Command extends infer C ? (C extends Command ? Omit<C, "now"> : never) : never;

const WORKERS = 200;
const ORCHESTRATORS = 20;
/** Commands that one batch gathers under load. */
const COMMANDS_A_BATCH = 32;
/** Log time that passes from one command to the next. */
const PACE_MS = 40;
const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };
const ADMIN: Principal = { role: "operator", subject: "operator" };

/**
 * Writes a log of `entries` entries or a few more through kernel and store, as a fleet would leave it: workers that move
 * on, corrections that are taken up, ignored, declined or refused. `tell` hears every so many entries what the appends
 * of that stretch took, in milliseconds.
 */
export async function generateLog(
  store: EventStore,
  keys: { idKey: Uint8Array; logKey: Uint8Array },
  options: { seed: number; entries: number; stretch: number; tell: (entries: number, appendMs: number) => void },
): Promise<void> {
  const fleet = new Fleet(keys, options.seed);
  fleet.begin();
  let told = 0;
  let appendMs = 0;
  while (store.size() < options.entries) {
    for (let count = 0; count < COMMANDS_A_BATCH; count += 1) fleet.move();
    const batch = fleet.takeBatch(store.size());
    const begun = performance.now();
    await store.append(batch);
    appendMs += performance.now() - begun;
    if (store.size() - told < options.stretch) continue;
    options.tell(store.size(), appendMs);
    told += options.stretch;
    appendMs = 0;
  }
}

/** Workers and orchestrators without sockets: each move is a command or a few, decided by the kernel. */
class Fleet {
  readonly #state = emptyState();
  readonly #idKey: Uint8Array;
  readonly #logKey: Uint8Array;
  readonly #random: (below: number) => number;
  #now = 1_700_000_000_000;
  #lines: string[] = [];
  #texts: TextLine[] = [];
  #moves = 0;

  constructor({ idKey, logKey }: { idKey: Uint8Array; logKey: Uint8Array }, seed: number) {
    this.#idKey = idKey;
    this.#logKey = logKey;
    this.#random = randomFrom(seed);
  }

  begin(): void {
    const origin = "a2achan/00112233aabbccdd";
    const log_key = formatVerifierKey(signerKey(origin, this.#logKey));
    const keys = { log_key, id_key: keyCommitment(this.#idKey) };
    this.#do({ kind: "start", shard: "00112233aabbccdd", origin, ...keys, version: "0.1.0", limits: LIMITS });
    const grant = (role: "worker" | "orchestrator", subject: string): void => {
      const patterns = role === "worker" ? { ...EVERYWHERE, worker: subject } : EVERYWHERE;
      this.#do({
        kind: "add_grant",
        by: ADMIN,
        token: `t-${subject}`,
        subject,
        role,
        verbs: ROLE_VERBS[role],
        patterns,
      });
    };
    for (let at = 0; at < ORCHESTRATORS; at += 1) grant("orchestrator", `orchestrator-${at}`);
    for (let at = 0; at < WORKERS; at += 1) {
      const id = `worker-${at}`;
      grant("worker", id);
      this.#do({ kind: "open_session", ...this.#asWorker(id), lease_ms: 60_000 });
      this.#publish(id);
    }
  }

  /** What was decided since the last call. */
  takeBatch(first: number): { first: number; entries: string[]; texts: TextLine[] } {
    const batch = { first, entries: this.#lines, texts: this.#texts };
    this.#lines = [];
    this.#texts = [];
    return batch;
  }

  move(): void {
    this.#moves += 1;
    const id = `worker-${this.#random(WORKERS)}`;
    if (this.#random(4) === 0) return this.#publish(id);
    const correction = this.#correct(id, this.#random(12) === 0);
    if (correction === undefined) return;
    const cited = { ...this.#asWorker(id), ...correction };
    const what = this.#random(10);
    this.#do({ kind: "receive", ...cited });
    if (what === 0) this.#do({ kind: "decline", ...cited, reason: committed("reason", "the file is generated") });
    else if (what === 1) this.#do({ kind: "ack", ...cited });
    else {
      const summary = committed("summary", `go on with what ${correction.correction_id} says`);
      this.#do({ kind: "ack", ...cited, next_action: { summary, reflects: [correction.correction_id] } });
    }
  }

  #publish(id: string): void {
    const last_action = committed("last_action", `edited src/parse-${this.#moves}.ts and ran its tests`);
    this.#do({ kind: "status", ...this.#asWorker(id), ...SCOPE, last_action });
  }

  /** Corrects a worker, rightly or for a row that is gone; its id and what it cites when it was admitted. */
  #correct(id: string, stale: boolean): { correction_id: string; status_digest: string } | undefined {
    const by = this.#principal("orchestrator", `orchestrator-${this.#random(ORCHESTRATORS)}`);
    const current = this.#state.workers.get(id)?.digest ?? "";
    const status_digest = stale ? `sha256:${"0".repeat(64)}` : current;
    const content: Omit<CorrectionContent, "message"> = {
      worker_id: id,
      ...SCOPE,
      status_digest,
      key: `k-${this.#moves}`,
    };
    const message = `Keep the public names of module ${this.#moves}; only its inside may change.`;
    const correction_id = correctionId(this.#idKey, { ...content, message }, by.subject);
    const sent = { content, message: committed("message", message), correction_id, reachable: true };
    const { answer } = this.#do({ kind: "correct", by, ...sent });
    return answer.kind === "admitted" ? { correction_id, status_digest } : undefined;
  }

  #do(command: Untimed): Step {
    this.#now += PACE_MS;
    const result = step(this.#state, { ...command, now: this.#now } as Command);
    result.events.forEach((event, at) => {
      const { line, texts } = encodeEntry(event, result.first + at, result.workerEntries[at]);
      this.#lines.push(line);
      this.#texts.push(...texts);
    });
    return result;
  }

  #asWorker(id: string): { by: Principal; worker_id: string; session: string } {
    return { by: this.#principal("worker", id), worker_id: id, session: `s_${id}` };
  }

  #principal(role: "worker" | "orchestrator", subject: string): Principal {
    return { role, subject, token: `t-${subject}` };
  }
}
