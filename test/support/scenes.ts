import type { Frame } from "./wire.js";

/** Where rows and corrections stand unless a test says otherwise. */
export const SCOPE = { issue: "2162", lane: "src/parser" };

/** A client that asks and is answered, with or without a socket. */
interface Asker {
  ask(frame: Frame): Promise<Frame>;
}

export function statusOf(lastAction: string, fields: Record<string, unknown> = {}): Frame {
  return { type: "status", ...SCOPE, last_action: lastAction, ...fields };
}

/** A correction that cites `status_digest`; without a `key` of its own the message makes it one of its kind. */
export function correctionOf(
  workerId: string,
  statusDigest: unknown,
  message: string,
  fields: Record<string, unknown> = {},
): Frame {
  return { type: "correct", worker_id: workerId, ...SCOPE, status_digest: statusDigest, message, ...fields };
}

/** Publishes a row and gives its digest. */
export async function publish(
  worker: Asker,
  lastAction = "read the issue",
  fields: Record<string, unknown> = {},
): Promise<string> {
  const row = await worker.ask(statusOf(lastAction, fields));
  if (row.type !== "row") throw new Error(`not published: ${JSON.stringify(row)}`);
  return row["status_digest"] as string;
}

/** Sends a correction that must be admitted and gives its id. */
export async function admit(
  orchestrator: Asker,
  workerId: string,
  digest: string,
  message: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const receipt = await orchestrator.ask(correctionOf(workerId, digest, message, fields));
  if (receipt["verdict"] !== "ALLOW") throw new Error(`not admitted: ${JSON.stringify(receipt)}`);
  return receipt["correction_id"] as string;
}
