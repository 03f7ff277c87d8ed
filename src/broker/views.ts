import { rowView, type State } from "../kernel/index.js";
import type { Liveness, View } from "../protocol/index.js";
import type { Sessions } from "./sessions.js";

/** What an orchestrator sees of a worker: its row, and beside it what only the broker knows. */
export function viewOf(state: State, sessions: Sessions, workerId: string): View | undefined {
  const worker = state.workers.get(workerId);
  const view = worker && rowView(worker);
  if (worker === undefined || view === undefined) return undefined;
  const session = sessions.worker(workerId);
  return {
    ...view,
    liveness: livenessOf(view.row.live, session !== undefined, worker.ended),
    inbox: session?.seat?.inboxOpen === true ? "open" : "closed",
  };
}

function livenessOf(live: boolean, connected: boolean, ended: boolean): Liveness {
  if (live) return connected ? "live" : "suspect";
  return ended ? "ended" : "dead";
}
