import type { Frame, Wire } from "../../../support/wire.js";

/** Where a correction stands, as its sender is answered. */
export async function stageOf(sender: Wire, correctionId: string): Promise<unknown> {
  return (await sender.ask({ type: "stage", correction_id: correctionId }))["stage"];
}

/** The stages of a correction that a session of its sender was pushed so far, in the order in which they came. */
export async function told(sender: Wire, correctionId: string): Promise<unknown[]> {
  await sender.barrier();
  return stagePushes(sender)
    .filter((push) => push["correction_id"] === correctionId)
    .map(({ stage }) => stage);
}

export function stagePushes(session: Wire): Frame[] {
  return session.pushes.filter(({ type }) => type === "stage");
}

/** The corrections that a worker's session was pushed and that no earlier call gave. */
export async function deliveries(worker: Wire): Promise<Frame[]> {
  await worker.barrier();
  const pushes = worker.pushes.filter(isDelivery);
  for (const push of pushes) worker.pushes.splice(worker.pushes.indexOf(push), 1);
  return pushes;
}

export function isDelivery({ type }: Frame): boolean {
  return type === "correction";
}

/** The id of a correction that was pushed to its worker. */
export function idIn(delivery: Frame): string {
  return (delivery["correction"] as { correction_id: string }).correction_id;
}

/** A `row` push that shows a worker in this state. */
export function shows(liveness: string): (frame: Frame) => boolean {
  return (frame) => frame.type === "row" && frame["liveness"] === liveness;
}

export function receive(correctionId: string): Frame {
  return { type: "receive", correction_id: correctionId };
}

export function ack(correctionId: string, digest: string, nextAction?: NextAction): Frame {
  const next = nextAction === undefined ? {} : { next_action: nextAction };
  return { type: "ack", correction_id: correctionId, status_digest: digest, ...next };
}

interface NextAction {
  summary: string;
  reflects?: string[];
}
