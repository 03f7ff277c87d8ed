import { stageOf, type KernelEvent, type Step } from "../kernel/index.js";
import { CLOSE, isOpen, type Stage } from "../protocol/index.js";
import { deliver, recall } from "./deliveries.js";
import type { Parts } from "./parts.js";
import type { Session } from "./session.js";
import { tellSender } from "./stages.js";

/** Tells everybody else what a step did: senders their stages, workers their corrections, watchers the rows. */
export function tell(parts: Parts, { events, first }: Step, now: number, asker: Session | undefined): void {
  const touched = new Set<string>();
  events.forEach((event, at) => {
    const stage = tellStage(parts, event, first + at, asker);
    // What a view shows moves with the row, its session, and the count of open corrections.
    const moves = event.kind === "status" || event.kind === "session_opened" || stage === "ADMITTED" || isEnd(stage);
    if (moves && "worker_id" in event && event.worker_id !== undefined) touched.add(event.worker_id);
    if (event.kind === "status" || event.kind === "session_opened") holdLease(parts, event);
  });
  for (const workerId of touched) touch(parts, workerId, now);
  // Last: whose token is revoked still learns what ended with it.
  for (const event of events) if (event.kind === "grant_revoked") endSessions(parts, event.token);
}

/** What follows whenever a worker's row, session or inbox may have changed. */
export function touch({ core, sessions, watchers }: Parts, workerId: string, now: number): void {
  deliver(core, sessions, workerId, now);
  watchers.changed(workerId, now);
}

function tellStage(
  { core, sessions }: Parts,
  event: KernelEvent,
  index: number,
  asker: Session | undefined,
): Stage | undefined {
  const stage = stageOf(event, index);
  if (stage === undefined || !("orchestrator_id" in event)) return undefined;
  // The asking session learns of its admission by its receipt.
  tellSender(core, sessions, event.orchestrator_id, stage, stage.stage === "ADMITTED" ? asker : undefined);
  if (isEnd(stage.stage)) recall(core, sessions, stage, event.by.role === "worker");
  return stage.stage;
}

function isEnd(stage: Stage | undefined): boolean {
  return stage !== undefined && !isOpen(stage);
}

function endSessions({ core, sessions }: Parts, token: string): void {
  for (const session of sessions.withToken(token)) core.post(() => session.end(CLOSE.UNAUTHENTICATED));
}

// A lease runs for as long as the row is live, whether or not its worker is connected.
function holdLease({ core, leases }: Parts, event: Extract<KernelEvent, { kind: "status" | "session_opened" }>): void {
  const worker = core.state.workers.get(event.worker_id);
  if (worker?.row?.live !== true) leases.drop(event.worker_id);
  else if (event.kind === "session_opened" || !leases.renew(event.worker_id))
    leases.hold(event.worker_id, worker.leaseMs);
}
