import { z } from "zod";
import { correctionContent } from "./correction.js";
import {
  correctionIdField,
  count,
  cursorField,
  digestField,
  idField,
  lifetimeInteger,
  requestIdField,
  sessionField,
  time,
} from "./fields.js";
import { ROLES } from "./grants.js";
import { DETAILS, REASONS, type Detail } from "./reasons.js";
import { STAGES, STAGE_DETAILS } from "./stages.js";
import { workerStatus } from "./status.js";
import { PROTOCOL } from "./version.js";

const reply = <T extends string>(type: T): { type: z.ZodLiteral<T>; id: typeof requestIdField } => ({
  type: z.literal(type),
  id: requestIdField,
});
const push = <T extends string>(type: T): { type: z.ZodLiteral<T> } => ({ type: z.literal(type) });

const stage = z.enum(STAGES);
const stageDetail = z.enum(STAGE_DETAILS);
const details = [...new Set(Object.values(DETAILS).flat())] as [Detail, ...Detail[]];

const refusalFields = {
  reason: z.enum(REASONS),
  detail: z.exactOptional(z.enum(details)),
  path: z.exactOptional(z.string()),
  bytes: z.exactOptional(count),
  max_bytes: z.exactOptional(lifetimeInteger),
};

export const LIVENESS = ["live", "suspect", "dead", "ended"] as const;

/** A row as an orchestrator sees it; what stands beside the row is the broker's and in no digest. */
const viewFields = {
  row: workerStatus,
  status_digest: digestField,
  liveness: z.enum(LIVENESS),
  inbox: z.enum(["open", "closed"]),
  /** Open corrections of the worker. */
  pending: count,
  lease_ms: lifetimeInteger,
};
export const view = z.strictObject(viewFields);

/** How one correction came out of a step. */
const outcome = z.strictObject({
  correction_id: correctionIdField,
  stage,
  detail: z.exactOptional(stageDetail),
  index: count,
});

const stageFields = {
  correction_id: correctionIdField,
  worker_id: idField,
  stage,
  detail: z.exactOptional(stageDetail),
  echo: z.exactOptional(z.literal(true)),
  index: count,
  at: time,
};

/** A correction as pushed to its worker: the content as sent, with what the broker adds. */
export const deliveredCorrection = z.strictObject({
  ...correctionContent.shape,
  correction_id: correctionIdField,
  orchestrator_id: idField,
  admitted_at: time,
  expires_at: time,
});

/** Replies, by `type`: each repeats the request's `id`. */
export const REPLIES = {
  welcome: z.strictObject({
    ...reply("welcome"),
    protocol: z.literal(PROTOCOL),
    principal: z.strictObject({ role: z.enum(ROLES), subject: idField }),
    session: sessionField,
    limits: z.record(z.string(), count),
    text_policy: z.literal(1),
    log: z.exactOptional(z.string()),
    cursor: cursorField,
    gap: z.boolean(),
  }),
  row: z.union([
    // to `get`
    z.strictObject({ ...reply("row"), ...view.partial().shape }),
    // to `status`
    z.strictObject({
      ...reply("row"),
      row: workerStatus,
      status_digest: digestField,
      changed: z.boolean(),
      pending: count,
      outcomes: z.array(outcome),
    }),
  ]),
  rows: z.strictObject({
    ...reply("rows"),
    rows: z.array(view),
    next: z.exactOptional(idField),
    cursor: z.exactOptional(cursorField),
    done: z.exactOptional(z.literal(true)),
  }),
  stage: z.strictObject({
    ...reply("stage"),
    ...stageFields,
    seq: z.exactOptional(lifetimeInteger),
    status_digest: z.exactOptional(digestField),
    outcomes: z.exactOptional(z.array(outcome)),
  }),
  receipt: z.strictObject({
    ...reply("receipt"),
    verdict: z.enum(["ALLOW", "DENY"]),
    ...refusalFields,
    reason: z.exactOptional(z.enum(REASONS)),
    correction_id: z.exactOptional(correctionIdField),
    stage: z.exactOptional(stage),
    index: z.exactOptional(count),
    expires_at: z.exactOptional(time),
    deliverable: z.exactOptional(z.boolean()),
    replayed: z.exactOptional(z.literal(true)),
    folded: z.exactOptional(z.literal(true)),
    current: z.exactOptional(workerStatus),
  }),
  refusal: z.strictObject({ ...reply("refusal"), ...refusalFields, folded: z.exactOptional(z.literal(true)) }),
  entries: z.strictObject({
    ...reply("entries"),
    entries: z.array(z.string()),
    texts: z.exactOptional(
      z.array(z.strictObject({ index: count, field: z.string(), salt: z.string(), utf8: z.string() })),
    ),
    next: z.exactOptional(count),
  }),
  ok: z.strictObject({
    ...reply("ok"),
    rev: z.exactOptional(z.nullable(count)),
    completed: z.exactOptional(z.nullable(count)),
    total: z.exactOptional(z.nullable(count)),
  }),
  proof: z.strictObject({
    ...reply("proof"),
    checkpoint: z.string(),
    index: z.exactOptional(count),
    from_size: z.exactOptional(count),
    hashes: z.exactOptional(z.array(z.string())),
    entry: z.exactOptional(z.string()),
  }),
  pong: z.strictObject(reply("pong")),
} as const;

/** Pushes, by `type`: no `id`, no answer expected. */
export const PUSHES = {
  correction: z.strictObject({
    ...push("correction"),
    correction: deliveredCorrection,
    /** 1 + receipts by earlier sessions. */
    attempt: lifetimeInteger,
    redelivered: z.boolean(),
    /** The row has changed since the correction was written. */
    stale_context: z.boolean(),
    written_at_seq: lifetimeInteger,
    /** Milliseconds of log time since the admission. */
    age_ms: count,
    /** Open corrections that are queued behind this one. */
    backlog: count,
  }),
  stage: z.strictObject({ ...push("stage"), ...stageFields, cursor: z.exactOptional(cursorField) }),
  row: z.union([
    z.strictObject({ ...push("row"), ...viewFields }),
    // a row that left the watcher's filter or grant
    z.strictObject({ ...push("row"), worker_id: idField, gone: z.literal(true) }),
  ]),
  entries: z.strictObject({
    ...push("entries"),
    entries: z.array(z.string()),
    texts: z.exactOptional(
      z.array(z.strictObject({ index: count, field: z.string(), salt: z.string(), utf8: z.string() })),
    ),
    next: z.exactOptional(count),
  }),
} as const;

export type ReplyType = keyof typeof REPLIES;
export type PushType = keyof typeof PUSHES;
export type ReplyOf<T extends ReplyType> = z.infer<(typeof REPLIES)[T]>;
export type PushOf<T extends PushType> = z.infer<(typeof PUSHES)[T]>;
export type Reply = { [T in ReplyType]: ReplyOf<T> }[ReplyType];
export type Push = { [T in PushType]: PushOf<T> }[PushType];

export type View = z.infer<typeof view>;
export type Outcome = z.infer<typeof outcome>;
export type Liveness = (typeof LIVENESS)[number];
export type DeliveredCorrection = z.infer<typeof deliveredCorrection>;
