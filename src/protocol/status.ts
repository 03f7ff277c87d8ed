import { z } from "zod";
import { correctionIdField, idField, lastActionField, lifetimeInteger, summaryField } from "./fields.js";
import { LIMITS } from "./limits.js";
import { STATUS_SCHEMA } from "./version.js";

/** The planned action in a row: `reflects` is always there, in the order given, without repeats. */
export const nextActionRow = z.strictObject({
  summary: summaryField,
  reflects: z.array(correctionIdField).max(LIMITS.reflects),
});

/** The live status row of a worker (PROTOCOL.md section 2). `live` and `seq` are the broker's. */
export const workerStatus = z.strictObject({
  schema: z.literal(STATUS_SCHEMA),
  worker_id: idField,
  issue: idField,
  task_id: z.exactOptional(idField),
  lane: idField,
  live: z.boolean(),
  seq: lifetimeInteger,
  last_action: z.exactOptional(lastActionField),
  next_action: z.exactOptional(nextActionRow),
});

export type WorkerStatus = z.infer<typeof workerStatus>;
export type NextAction = z.infer<typeof nextActionRow>;
