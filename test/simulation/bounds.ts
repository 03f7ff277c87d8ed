import type { Broker } from "../../src/broker/index.js";
import type { Report } from "./clauses.js";

/** I14: no queue or map of the broker is beyond its cap; `connected` is how many ends of cables it holds. */
export function i14Bounded(broker: Broker, connected: number, report: Report): void {
  const { state, limits } = broker;
  for (const { id, open, citing, digestTimes } of state.workers.values()) {
    if (open.size > limits.open_per_worker_halt) report("I14", `${id} has ${open.size} open corrections`);
    if (citing.size > limits.citing_per_digest) report("I14", `${citing.size} cite one digest of ${id}`);
    if (digestTimes.length > limits.digests_per_window)
      report("I14", `${digestTimes.length} digests of ${id} are timed`);
  }
  for (const [subject, { ended, admittedTimes }] of state.senders) {
    if (ended.length > limits.ended_per_principal) report("I14", `${ended.length} ended ones of ${subject} are kept`);
    if (admittedTimes.length > limits.admitted_per_window)
      report("I14", `${admittedTimes.length} admissions of ${subject} are timed`);
  }
  const { sessions, connections } = broker.stats();
  if (connections > connected) report("I14", `${connections} connections are kept, ${connected} are there`);
  if (sessions > connected) report("I14", `${sessions} sessions are kept of ${connected} connections`);
}
