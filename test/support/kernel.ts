import { keyCommitment } from "../../src/broker/keys.js";
import { formatVerifierKey, signerKey } from "../../src/tlog/index.js";
import {
  emptyState,
  step,
  type Command,
  type Correction,
  type KernelEvent,
  type Principal,
  type State,
  type Step,
  type Text,
  type Worker,
} from "../../src/kernel/index.js";
import {
  LIMITS,
  ROLE_VERBS,
  commitment,
  correctionId,
  parseRequest,
  utf8Bytes,
  type CorrectionContent,
  type Limits,
  type MalformedRequest,
  type Patterns,
  type PlannedAction,
  type Refusal,
  type RequestType,
  type Role,
  type TextField,
} from "../../src/protocol/index.js";

export const ID_KEY = new Uint8Array(32).fill(7);
/** What the kernel's log is signed with. */
export const LOG_SIGNER = signerKey("test.example/log", new Uint8Array(32).fill(9));
const SALT = new Uint8Array(32).fill(1);

/** Where rows and corrections stand unless a test says otherwise. */
export const SCOPE = { issue: "2162", lane: "internal/a2achan" };
export const EVERYWHERE: Patterns = { worker: "**", issue: "**", lane: "**" };

type Untimed = Command extends infer C ? (C extends Command ? Omit<C, "now"> : never) : never;
type Partly<T> = { [K in keyof T]?: T[K] | undefined };

/** Which session or token a request comes with, where it is not the usual one. */
interface From {
  session?: string;
  token?: string;
  role?: Role;
}
interface StatusFields {
  issue?: string;
  task_id?: string;
  lane?: string;
  last_action?: string;
  next_action?: PlannedAction;
  expect_seq?: number;
}

/** A text under a salt that is always the same, or the one that is given. */
export function textOf(field: TextField, text: string, salt: Uint8Array = SALT): Text {
  return {
    bytes: utf8Bytes(text),
    commitment: commitment(field, salt, text),
    text,
    salt: Buffer.from(salt).toString("hex"),
  };
}

/** The kernel with one state, driven by plain arguments at a time that the test sets. Subjects show the token `t-<subject>`. */
export class TestKernel {
  state: State = emptyState();
  now: number;
  readonly events: KernelEvent[] = [];
  /** Sees each command with what it did. */
  observer: ((command: Command, step: Step) => void) | undefined;
  /** Whether each text has a salt of its own, as with a broker. */
  salted = false;
  #salts = 0;
  readonly #sessions = new Map<string, string>();

  constructor(limits: Limits = LIMITS, now = 1_000_000) {
    this.now = now;
    this.start(limits);
  }

  do(command: Untimed): Step {
    const timed = { ...command, now: this.now } as Command;
    const result = step(this.state, timed);
    this.events.push(...result.events);
    this.observer?.(timed, result);
    return result;
  }

  /** The broker starts, for the first time or again. */
  start(limits: Limits = LIMITS): Step {
    const keys = { log_key: formatVerifierKey(LOG_SIGNER), id_key: keyCommitment(ID_KEY) };
    return this.do({ kind: "start", shard: "shard-1", origin: LOG_SIGNER.name, ...keys, version: "0.0.0", limits });
  }

  tick(): Step {
    return this.do({ kind: "tick" });
  }

  grant(role: Role, subject: string, more: Partial<Extract<Command, { kind: "add_grant" }>> = {}): Step {
    return this.do({
      kind: "add_grant",
      by: ADMIN,
      token: `t-${subject}`,
      subject,
      role,
      verbs: ROLE_VERBS[role],
      patterns: role === "worker" ? { ...EVERYWHERE, worker: subject } : EVERYWHERE,
      ...more,
    });
  }

  revoke(token: string): Step {
    return this.do({ kind: "revoke_grant", by: ADMIN, token });
  }

  redact(entry: number, field: TextField, committed: string): Step {
    return this.do({ kind: "redact", by: ADMIN, entry, field, committed });
  }

  /** Opens a session of a worker, which becomes its current one. */
  connect(worker_id: string, session = `${worker_id}-s1`, { token }: From = {}): Step {
    this.#sessions.set(worker_id, session);
    const by = principal("worker", worker_id, token);
    return this.do({ kind: "open_session", by, worker_id, session, lease_ms: 90_000 });
  }

  lapse(worker_id = "w-1"): Step {
    return this.do({ kind: "lapse", worker_id });
  }

  status(worker_id: string, fields: StatusFields = {}, from: From = {}): Step {
    const { last_action, next_action, ...rest } = { ...SCOPE, ...fields };
    return this.do({
      kind: "status",
      ...this.#worker(worker_id, from),
      ...rest,
      ...(last_action !== undefined && { last_action: this.#text("last_action", last_action) }),
      ...(next_action !== undefined && { next_action: this.#planned(next_action) }),
    });
  }

  receive(worker_id: string, correction_id: string, from: From = {}): Step {
    return this.do({ kind: "receive", ...this.#worker(worker_id, from), correction_id });
  }

  /** Acks, citing the digest that the correction cites. */
  ack(
    worker_id: string,
    correction_id: string,
    next_action?: PlannedAction,
    from: From & { status_digest?: string } = {},
  ): Step {
    return this.do({
      kind: "ack",
      ...this.#worker(worker_id, from),
      correction_id,
      status_digest: from.status_digest ?? this.#cited(correction_id),
      ...(next_action !== undefined && { next_action: this.#planned(next_action) }),
    });
  }

  decline(worker_id: string, correction_id: string, from: From & { status_digest?: string } = {}): Step {
    return this.do({
      kind: "decline",
      ...this.#worker(worker_id, from),
      correction_id,
      status_digest: from.status_digest ?? this.#cited(correction_id),
      reason: this.#text("reason", "the file is generated"),
    });
  }

  bye(worker_id = "w-1", from: From = {}): Step {
    return this.do({ kind: "bye", ...this.#worker(worker_id, from), outcome: "completed" });
  }

  /** Corrects `w-1` in its usual scope with its current digest, where `fields` do not say otherwise. */
  correct(
    subject: string,
    fields: Partly<CorrectionContent> = {},
    { token, role = "orchestrator", reachable = true }: From & { reachable?: boolean } = {},
  ): Step {
    const worker_id = fields.worker_id ?? "w-1";
    const cited = "status_digest" in fields ? {} : { status_digest: this.worker(worker_id)?.digest };
    const all = { worker_id, ...SCOPE, message: "Stay in your lane.", ...cited, ...fields };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const { message, ...content } = sent as CorrectionContent;
    return this.do({
      kind: "correct",
      by: principal(role, subject, token),
      content,
      message: this.#text("message", message),
      correction_id: correctionId(ID_KEY, { ...content, message }, subject),
      reachable,
    });
  }

  withdraw(subject: string, correction_id: string, { token }: From = {}): Step {
    return this.do({ kind: "withdraw", by: principal("orchestrator", subject, token), correction_id });
  }

  stage(subject: string, correction_id: string, { token }: From = {}): Step {
    return this.do({ kind: "stage", by: principal("orchestrator", subject, token), correction_id });
  }

  /** A raw `correct` frame as it comes out of a codec. */
  frame(subject: string, frame: object, from: From & { reachable?: boolean } = {}): Step {
    const parsed = parseRequest(frame);
    if (parsed.kind === "malformed") return this.malformed(subject, parsed.malformed, from);
    if (parsed.kind === "unknown" || parsed.request.type !== "correct") throw new Error("no correct frame");
    const { type: _type, id: _id, ...fields } = parsed.request;
    return this.correct(subject, { status_digest: undefined, ...fields }, from);
  }

  /** A request whose shape was refused at the edge. */
  malformed(subject: string, { type, refusal, worker_id, message }: MalformedRequest, from: From = {}): Step {
    return this.do({
      kind: "malformed",
      by: principal(from.role ?? "orchestrator", subject, from.token),
      request: type,
      refusal,
      ...(worker_id !== undefined && { worker_id }),
      ...(from.session !== undefined && { session: from.session }),
      ...(message !== undefined && { message: this.#text("message", message) }),
    });
  }

  read(role: Role, subject: string, request: RequestType, from: From = {}): Step {
    const of = role === "worker" ? { worker_id: subject, session: this.#session(subject, from) } : {};
    return this.do({ kind: "read", by: principal(role, subject, from.token), request, ...of });
  }

  worker(id = "w-1"): Worker | undefined {
    return this.state.workers.get(id);
  }

  correction(id: string): Correction {
    const correction = this.state.corrections.get(id);
    if (correction === undefined) throw new Error(`${id} is not kept`);
    return correction;
  }

  #text(field: TextField, text: string): Text {
    if (!this.salted) return textOf(field, text);
    this.#salts += 1;
    return textOf(field, text, Buffer.from(String(this.#salts).padStart(32, "0")));
  }

  #planned({ summary, ...rest }: PlannedAction): Omit<PlannedAction, "summary"> & { summary: Text } {
    return { ...rest, summary: this.#text("summary", summary) };
  }

  #session(worker_id: string, { session }: From): string {
    return session ?? this.#sessions.get(worker_id) ?? "none";
  }

  #worker(worker_id: string, from: From): { by: Principal; worker_id: string; session: string } {
    return { by: principal("worker", worker_id, from.token), worker_id, session: this.#session(worker_id, from) };
  }

  #cited(correction_id: string): string {
    return this.state.corrections.get(correction_id)?.content.status_digest ?? "sha256:unknown";
  }
}

const ADMIN: Principal = { role: "operator", subject: "operator" };

function principal(role: Role, subject: string, token = `t-${subject}`): Principal {
  return { role, subject, token };
}

/** The refusal that a step answered, or undefined. */
export function refusalOf({ answer }: Step): Refusal | undefined {
  return answer.kind === "refused" ? answer.refusal : undefined;
}

/** The id of the correction that a step answered as admitted. */
export function admittedId({ answer }: Step): string {
  if (answer.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(answer)}`);
  return answer.correctionId;
}

/** Kind of each event of a step, with the detail of an end: `stale/RUN_CHANGED`. */
export function told({ events }: Step): string[] {
  return events.map((event) =>
    "detail" in event && event.detail !== undefined ? `${event.kind}/${event.detail}` : event.kind,
  );
}
