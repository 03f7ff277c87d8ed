import { z } from "zod";
import type { LoggedEvent } from "../../kernel/index.js";
import {
  correctionContent,
  DETAILS,
  LIMITS,
  REASONS,
  REQUESTS,
  STAGE_DETAILS,
  TEXT_FIELDS,
  TOKEN_ROLES,
  VERBS,
  workerStatus,
} from "../../protocol/index.js";

const { hello, status, ack, bye } = REQUESTS;
const { issue: id, task_id, expect_seq } = status.shape;
const { correction_id, status_digest: cited } = ack.shape;

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** What logs, keys and tokens are called. */
const name = z.string().regex(/^[!-~]{1,512}$/);
/** Of the broker's own making; in recorded logs there is one with blanks. */
const session = z.string().regex(/^[ !#-[\]-~]{1,64}$/);
const echo = z.exactOptional(z.literal(true));

/** A text as its line commits to it, and as whoever has opened the line knows it. */
const text = z.strictObject({
  bytes: count,
  commitment: hash,
  text: z.exactOptional(z.string()),
  salt: z.exactOptional(z.string()),
});
const last_action = z.exactOptional(text);
const plan = status.shape.next_action.unwrap().extend({ summary: text });
const { via } = plan.shape;
const content = correctionContent.extend({ message: text });
const planned = workerStatus.shape.next_action.unwrap().extend({ summary: text });
const { reflects } = planned.shape;
const row = workerStatus.extend({ last_action, next_action: z.exactOptional(planned) });

const by = z.strictObject({
  role: z.enum([...TOKEN_ROLES, "broker"]),
  subject: id,
  token: z.exactOptional(name),
});
/** Only who administers gives and takes grants, and redacts; that takes no token. */
const admin = by.omit({ token: true }).extend({ role: z.enum(["operator", "broker"]) });

const entry = { at: count, by, index: count, worker_entry: z.exactOptional(count) };
const ofWorker = { ...entry, worker_id: id };
const ofCorrection = { ...ofWorker, correction_id, orchestrator_id: id };

/** What an entry of each kind can hold: its line copies it from what somebody asked for. */
const ENTRY = z.discriminatedUnion("kind", [
  z.strictObject({ ...entry, kind: z.literal("log_opened"), shard: name, origin: name, log_key: name, id_key: hash }),
  z.strictObject({
    ...entry,
    kind: z.literal("broker_started"),
    version: z.string(),
    rules: count,
    text_policy: count,
    limits: z.strictObject(each(Object.keys(LIMITS), z.number().min(0))),
    torn: z.exactOptional(z.strictObject({ file: z.string(), bytes: count })),
  }),
  z.strictObject({ ...entry, kind: z.literal("broker_stopped") }),
  z.strictObject({
    ...entry,
    by: admin,
    kind: z.literal("grant_added"),
    token: name,
    subject: id,
    role: z.enum(TOKEN_ROLES),
    verbs: z.array(z.enum(VERBS)),
    patterns: z.strictObject({ worker: id, issue: id, lane: id }),
    expires_at: z.exactOptional(z.number().min(0)),
  }),
  z.strictObject({ ...entry, by: admin, kind: z.literal("grant_revoked"), token: name }),
  z.strictObject({
    ...ofWorker,
    kind: z.literal("session_opened"),
    session,
    lease_ms: hello.shape.lease_ms.unwrap(),
  }),
  z.strictObject({
    ...ofWorker,
    kind: z.literal("status"),
    row,
    status_digest: digest,
    cause: z.enum(["published", "lease_lapsed", "restart", "ended"]),
    outcome: bye.shape.outcome,
  }),
  z.strictObject({
    ...ofCorrection,
    kind: z.literal("admitted"),
    content,
    seq: count,
    expires_at: count,
    deliverable: z.boolean(),
  }),
  z.strictObject({
    ...entry,
    kind: z.literal("refused"),
    verb: z.enum(Object.keys(REQUESTS)),
    reason: z.enum(REASONS),
    detail: z.exactOptional(z.enum(Object.values(DETAILS).flat())),
    path: z.exactOptional(z.string().regex(/^[a-z_]+(\.[a-z_0-9]+)*$/)),
    bytes: z.exactOptional(count),
    max_bytes: z.exactOptional(count),
    role: z.exactOptional(hello.shape.role),
    worker_id: z.exactOptional(id),
    session: z.exactOptional(session),
    correction_id: z.exactOptional(correction_id),
    content: z.exactOptional(z.union([content, z.strictObject({ message: text })])),
    status_digest: z.exactOptional(cited),
    issue: z.exactOptional(id),
    task_id,
    lane: z.exactOptional(id),
    expect_seq,
    last_action,
    next_action: z.exactOptional(plan),
    seq: z.exactOptional(count),
  }),
  z.strictObject({
    ...entry,
    kind: z.literal("refusals_folded"),
    role: z.enum(TOKEN_ROLES),
    subject: id,
    counts: z.strictObject(each(REASONS, z.exactOptional(count))),
    first_at: count,
    last_at: count,
  }),
  z.strictObject({ ...ofCorrection, kind: z.literal("late_ack"), session }),
  z.strictObject({ ...ofWorker, kind: z.literal("planned"), summary: text, reflects, via, echo }),
  z.strictObject({
    ...ofCorrection,
    kind: z.enum(["declined", "expired", "withdrawn", "orphaned", "revoked"]),
    detail: z.exactOptional(z.enum(STAGE_DETAILS)),
    echo,
    reason: z.exactOptional(text),
    superseded_by: z.exactOptional(correction_id),
  }),
  z.strictObject({
    ...entry,
    by: admin,
    kind: z.literal("redacted"),
    entry: count,
    field: z.enum(TEXT_FIELDS),
    committed: hash,
  }),
]);

/** Kinds that come with corrections and of which the rules make each member anew: the replay sees to them at once. */
const MADE: readonly string[] = ["delivered", "acked", "witnessed", "unreflected", "superseded", "stale"];

/** Whether an entry has the members of its kind and no other, and nothing in them that the broker lets nobody say. */
export function isWellFormed(event: LoggedEvent): boolean {
  return MADE.includes(event.kind) || ENTRY.safeParse(event).success;
}

function each<T>(names: readonly string[], shape: T): Record<string, T> {
  return Object.fromEntries(names.map((one) => [one, shape]));
}
