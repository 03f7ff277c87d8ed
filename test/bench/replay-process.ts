import type * as Kernel from "../../src/kernel/index.js";
import type * as Protocol from "../../src/protocol/index.js";
import type * as Texts from "../../src/broker/texts.js";
import type * as Heap from "../../src/cli/heap.js";
import type * as Verifying from "../../src/cli/audit/verifier.js";
import type * as Tlog from "../../src/tlog/index.js";
import type { ReplayOptions, ReplayRound } from "./figures/replay.js";

/** Makes a log with the kernel itself, then folds and verifies it again and again, beside JSON.parse of the same lines. */
const { dist, entries: wanted, workers } = JSON.parse(process.argv[1] ?? "") as ReplayOptions;
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, dist).href)) as T;
const { BROKER, decodeEntries, emptyState, encodeEntry, evolve, step } = await load<typeof Kernel>("kernel/index.js");
const { LIMITS, correctionId } = await load<typeof Protocol>("protocol/index.js");
const { committed } = await load<typeof Texts>("broker/texts.js");
const { Verifier } = await load<typeof Verifying>("cli/audit/verifier.js");
const { formatVerifierKey, Frontier, leafHash, signerKey } = await load<typeof Tlog>("tlog/index.js");

// As the program does.
(await load<typeof Heap>("cli/heap.js")).allocateYoung();

/** As many as the broker reads at once when it takes up a log. */
const PAGE = 1_024;

interface Page {
  first: number;
  entries: string[];
  texts: Kernel.TextLine[];
  /** The texts of each entry. */
  textsOf: Kernel.TextLine[][];
}

function makeLog(): Page[] {
  const state = emptyState();
  const pages: Page[] = [];
  let now = 1_750_000_000_000;
  const run = (command: Untimed): Kernel.Step => {
    now += 1;
    const result = step(state, { now, ...command } as Kernel.Command);
    result.events.forEach((event, at) => {
      const index = result.first + at;
      if (index % PAGE === 0) pages.push({ first: index, entries: [], texts: [], textsOf: [] });
      const { line, texts } = encodeEntry(event, index, result.workerEntries[at]);
      pages.at(-1)?.entries.push(Buffer.from(line).toString("latin1"));
      pages.at(-1)?.texts.push(...texts);
      pages.at(-1)?.textsOf.push(texts);
    });
    return result;
  };
  const idKey = new Uint8Array(32).fill(7);
  const subject = "orchestrator-0";
  const sender = { role: "orchestrator", subject, token: "00000000" } as const;
  const patterns = { worker: "**", issue: "**", lane: "**" };
  const grant = { kind: "add_grant", by: BROKER, patterns } as const;
  const plenty = 1_000_000_000;
  const limits = { ...LIMITS, admitted_per_window: plenty, digests_per_window: plenty };
  const key = signerKey("bench.example/log", idKey);
  const opened = { origin: key.name, log_key: formatVerifierKey(key), id_key: "0".repeat(64) };
  run({ kind: "start", shard: "0123456789abcdef", ...opened, version: "0", limits });
  run({ ...grant, token: sender.token, subject, role: "orchestrator", verbs: ["correct", "watch"] });
  const ids = Array.from({ length: workers }, (_, at) => `w-${String(at).padStart(5, "0")}`);
  const actorOf = (worker_id: string) =>
    ({
      by: { role: "worker", subject: worker_id, token: worker_id },
      worker_id,
      session: `s-${worker_id}`,
    }) as const;
  const scope = { issue: "2162", lane: "src/net" };
  for (const worker_id of ids) {
    run({ ...grant, token: worker_id, subject: worker_id, role: "worker", verbs: ["publish", "receive", "ack"] });
    run({ kind: "open_session", ...actorOf(worker_id), lease_ms: LIMITS.lease_default_ms });
    const next_action = { summary: committed("summary", "add a retry to the fetch of the index") };
    run({ kind: "status", ...actorOf(worker_id), ...scope, next_action });
  }
  for (let cycle = 0; state.size < wanted; cycle += 1) {
    const worker_id = ids[cycle % ids.length] ?? "";
    const status_digest = state.workers.get(worker_id)?.digest ?? "";
    const content = { worker_id, ...scope, status_digest, key: `k${cycle}` };
    const message = "Keep the retry budget in one place: the helper in src/net has it already.";
    const correction_id = correctionId(idKey, { ...content, message }, subject);
    const admission = { content, message: committed("message", message), correction_id, reachable: true };
    run({ kind: "correct", by: sender, ...admission });
    const summary = committed("summary", `use the helper in src/net, then run its tests (step ${cycle})`);
    const next_action: Kernel.PlannedText = { summary, reflects: [correction_id], via: "plan" };
    run({ kind: "ack", ...actorOf(worker_id), correction_id, status_digest, next_action });
  }
  return pages;
}

type Untimed = Kernel.Command extends infer C ? (C extends Kernel.Command ? Omit<C, "now"> : never) : never;

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const pages = makeLog();
const count = pages.reduce((sum, page) => sum + page.entries.length, 0);

function parseAll(page: Page): void {
  for (const line of page.entries) JSON.parse(line);
}

/** Page by page in turn, so that whatever else the machine does falls on all. */
function round(): ReplayRound {
  const state = emptyState();
  const verifier = new Verifier({ texts: "whole" });
  const frontier = new Frontier();
  let [fold, parse, tree, verify] = [0, 0, 0, 0];
  for (const page of pages) {
    parse += cpuOf(() => parseAll(page));
    fold += cpuOf(() => {
      for (const run of decodeEntries(page.entries, page.first, page.texts))
        for (const event of run) evolve(state, event);
    });
    tree += cpuOf(() => {
      for (const line of page.entries) frontier.append(leafHash(line));
    });
    verify += cpuOf(() => {
      for (const [at, line] of page.entries.entries())
        verifier.take({ index: page.first + at, line, texts: page.textsOf[at] ?? [] });
    });
  }
  const { difference } = verifier.end();
  if (difference !== undefined) throw new Error(`entry ${difference.index}: ${difference.sentence}`);
  return { fold: fold / count, parse: parse / count, tree: tree / count, verify: verify / count };
}

process.on("message", (question) => process.send?.(question === "round" ? round() : 0));
process.on("disconnect", () => process.exit());
process.send?.(count);
