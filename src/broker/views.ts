import { rowView, type Viewed, type Worker } from "../kernel/index.js";
import type { Liveness, View } from "../protocol/index.js";
import type { Sessions } from "./sessions.js";

/**
 * A worker as it stood in one turn, to be put into words in a later one: a row is replaced when it changes, never
 * written to.
 */
export interface Glimpse extends Viewed {
  liveness: Liveness;
  inbox: View["inbox"];
}

export function glimpse(sessions: Sessions, worker: Worker): Glimpse {
  const { row, digest, leaseMs, open, ended } = worker;
  const session = sessions.worker(worker.id);
  return {
    row,
    digest,
    leaseMs,
    pending: open.size,
    liveness: livenessOf(row?.live === true, session !== undefined, ended),
    inbox: session?.seat?.inboxOpen === true ? "open" : "closed",
  };
}

/** What an orchestrator sees of a worker: its row, and beside it what only the broker knows. None without a row. */
export function worded(glimpsed: Glimpse): View | undefined {
  const view = rowView(glimpsed);
  if (view === undefined) return undefined;
  const { row, status_digest, pending, lease_ms } = view;
  const { liveness, inbox } = glimpsed;
  return { row, status_digest, liveness, inbox, pending, lease_ms };
}

/** The view of a worker as it is now. */
export function viewOf(sessions: Sessions, worker: Worker | undefined): View | undefined {
  return worker && worded(glimpse(sessions, worker));
}

function livenessOf(live: boolean, connected: boolean, ended: boolean): Liveness {
  if (live) return connected ? "live" : "suspect";
  return ended ? "ended" : "dead";
}
