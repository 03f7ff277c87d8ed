import { correctionPush, deliverable, type StageView } from "../kernel/index.js";
import type { Core } from "./core.js";
import { Outgoing } from "./peer.js";
import type { Sessions } from "./sessions.js";

/** Pushes to the worker what waits for it and this session was not given: while its row is live and its inbox open. */
export function deliver(core: Core, sessions: Sessions, workerId: string, now: number): void {
  const session = sessions.worker(workerId);
  const worker = core.state.workers.get(workerId);
  if (session?.seat === undefined || !session.seat.inboxOpen || worker?.row?.live !== true) return;
  const { pushed } = session.seat;
  const waiting = deliverable(worker);
  waiting.forEach((correction, at) => {
    if (pushed.has(correction.id)) return;
    const frame = correctionPush(core.state, correction, session.id, now, waiting.length - at - 1);
    if (frame === undefined) return;
    pushed.add(correction.id);
    core.post(() => session.push(new Outgoing(frame)));
  });
}

/** Tells a worker's session that a correction which it was given was ended by others. */
export function recall(core: Core, sessions: Sessions, stage: StageView, byWorker: boolean): void {
  const session = sessions.worker(stage.worker_id);
  if (session?.seat?.pushed.delete(stage.correction_id) !== true || byWorker) return;
  core.post(() => session.push(new Outgoing({ type: "stage", ...stage })));
}
