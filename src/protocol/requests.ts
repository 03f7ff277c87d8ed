import { z } from "zod";
import { correctionContent } from "./correction.js";
import {
  citedDigestField,
  correctionIdField,
  count,
  cursorField,
  idField,
  lastActionField,
  lifetimeInteger,
  reasonField,
  requestIdField,
  summaryField,
  tokenField,
} from "./fields.js";
import { ROLES } from "./grants.js";
import { LIMITS } from "./limits.js";

/** How the worker says that it planned: kept in the log as its claim. */
export const VIA = ["declared", "tool_input", "plan", "status", "final_text"] as const;

export const nextAction = z.strictObject({
  summary: summaryField,
  reflects: z.exactOptional(
    z
      .array(correctionIdField)
      .max(LIMITS.reflects)
      .refine((ids) => new Set(ids).size === ids.length),
  ),
  via: z.exactOptional(z.enum(VIA)),
});

const request = <T extends string>(type: T): { type: z.ZodLiteral<T>; id: typeof requestIdField } => ({
  type: z.literal(type),
  id: requestIdField,
});
const correction_id = correctionIdField;
const limit = z.exactOptional(lifetimeInteger.max(1_000));

/** Grant patterns by which `list` and `watch` narrow what the grant already covers. */
export const filter = z.strictObject({
  worker_id: z.exactOptional(idField),
  issue: z.exactOptional(idField),
  lane: z.exactOptional(idField),
  live: z.exactOptional(z.boolean()),
});

/** One step of a worker's own story, and one artifact that it offers for re-reading. */
const step = z.strictObject({
  label: z.string(),
  state: z.enum(["pending", "active", "done", "blocked", "skipped"]),
  note: z.exactOptional(z.string()),
});
const evidenceRef = z.strictObject({ kind: z.enum(["commit", "path", "issue", "memory", "ledger"]), ref: idField });

/** Every frame that a client can send, by `type` (PROTOCOL.md section 6). */
export const REQUESTS = {
  hello: z.strictObject({
    ...request("hello"),
    role: z.enum(ROLES),
    token: z.exactOptional(tokenField),
    worker_id: z.exactOptional(idField),
    lease_ms: z.exactOptional(z.int().min(LIMITS.lease_min_ms).max(LIMITS.lease_max_ms)),
    inbox: z.exactOptional(z.boolean()),
    resume_from: z.exactOptional(cursorField),
    client: z.exactOptional(idField),
  }),
  status: z.strictObject({
    ...request("status"),
    issue: idField,
    task_id: z.exactOptional(idField),
    lane: idField,
    last_action: z.exactOptional(lastActionField),
    next_action: z.exactOptional(nextAction),
    expect_seq: z.exactOptional(count),
  }),
  receive: z.strictObject({ ...request("receive"), correction_id }),
  ack: z.strictObject({
    ...request("ack"),
    correction_id,
    status_digest: citedDigestField,
    next_action: z.exactOptional(nextAction),
  }),
  decline: z.strictObject({
    ...request("decline"),
    correction_id,
    status_digest: citedDigestField,
    reason: reasonField,
  }),
  inbox: z.strictObject({ ...request("inbox"), open: z.boolean() }),
  bye: z.strictObject({
    ...request("bye"),
    outcome: z.exactOptional(z.enum(["completed", "failed", "canceled"])),
  }),
  get: z.strictObject({ ...request("get"), worker_id: idField }),
  list: z.strictObject({
    ...request("list"),
    filter: z.exactOptional(filter),
    after: z.exactOptional(idField),
    limit,
  }),
  watch: z.strictObject({ ...request("watch"), filter: z.exactOptional(filter) }),
  unwatch: z.strictObject(request("unwatch")),
  correct: z.strictObject({ ...request("correct"), ...correctionContent.shape }),
  withdraw: z.strictObject({ ...request("withdraw"), correction_id }),
  stage: z.strictObject({ ...request("stage"), correction_id }),
  log: z.strictObject({
    ...request("log"),
    after: count,
    limit,
    worker_id: z.exactOptional(idField),
    correction_id: z.exactOptional(correction_id),
  }),
  follow: z.strictObject({
    ...request("follow"),
    after: count,
    limit,
    worker_id: z.exactOptional(idField),
    correction_id: z.exactOptional(correction_id),
  }),
  progress: z.strictObject({
    ...request("progress"),
    steps: z.exactOptional(z.array(step).max(LIMITS.steps)),
    markdown: z.exactOptional(z.string()),
  }),
  evidence: z.strictObject({ ...request("evidence"), refs: z.array(evidenceRef).min(1).max(LIMITS.steps) }),
  checkpoint: z.strictObject(request("checkpoint")),
  prove: z
    .strictObject({ ...request("prove"), index: z.exactOptional(count), from_size: z.exactOptional(count) })
    .refine((frame) => (frame.index === undefined) !== (frame.from_size === undefined)),
  ping: z.strictObject(request("ping")),
} as const;

export type RequestType = keyof typeof REQUESTS;
export type RequestOf<T extends RequestType> = z.infer<(typeof REQUESTS)[T]>;
export type Request = { [T in RequestType]: RequestOf<T> }[RequestType];
export type Filter = z.infer<typeof filter>;
export type Via = (typeof VIA)[number];
export type PlannedAction = z.infer<typeof nextAction>;
