import { correctionPush, deliverable, type StageView } from "../kernel/index.js";
import type { Core } from "./core.js";
import { Outgoing } from "./peer.js";
import type { Sessions } from "./sessions.js";

/** Pushes to the worker what waits for it and this session was not given: while its row is live and its inbox open. */
export function deliver(core: Core, sessions: Sessions, workerId: string, now: number): void {
  const session = sessions.worker(workerId);
  const worker = core.state.workers.get(workerId);
  if (session?.seat === undefined || !session.seat.inboxOpen || worker?.row?.live !== true) return;
  if (worker.open.size === 0) return;
  const pushed = (session.seat.pushed ??= new Map());
  const waiting = deliverable(worker);
  waiting.forEach((correction, at) => {
    if (pushed.has(correction.id)) return;
    const frame = correctionPush(correction, session.id, now, waiting.length - at - 1);
    if (frame === undefined) return;
    pushed.set(correction.id, false);
    core.post(() => {
      // It may have ended while the push waited for the store.
      if (!pushed.has(correction.id)) return;
      pushed.set(correction.id, true);
      session.push(new Outgoing(frame));
    });
  });
}

/** Tells a worker's session that a correction which it was given was ended by others. */
export function recall(core: Core, sessions: Sessions, stage: StageView, byWorker: boolean): void {
  const session = sessions.worker(stage.worker_id);
  const left = session?.seat?.pushed?.get(stage.correction_id);
  session?.seat?.pushed?.delete(stage.correction_id);
  if (session === undefined || left !== true || byWorker) return;
  core.post(() => session.push(new Outgoing({ type: "stage", ...stage })));
}
