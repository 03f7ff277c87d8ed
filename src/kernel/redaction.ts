import type { Redact } from "./commands.js";
import { DONE, type Decision } from "./decision.js";
import type { Row } from "./events.js";
import type { State } from "./state.js";

/** A text goes for good, unless somebody still needs it. */
export function decideRedact(state: State, command: Redact): Decision {
  if (whyKept(state, command) !== undefined) return DONE;
  const { now, by, entry, field, committed } = command;
  return { events: [{ kind: "redacted", at: now, by, entry, field, committed }], answer: { kind: "done" } };
}

/** Why a text has to stay for now, in one sentence; undefined where it may go. */
export function whyKept(
  state: State,
  { entry, field, committed }: Pick<Redact, "entry" | "field" | "committed">,
): string | undefined {
  if (entry >= state.size) return `the log has ${state.size} entries, and none with index ${entry}`;
  for (const { open } of state.senders.values()) {
    for (const { id, content } of open.values()) {
      if (content.message.commitment === committed)
        return `the ${field} in entry ${entry} is that of ${id}, which is open; redact it once that has ended`;
    }
  }
  for (const { id, row } of state.workers.values()) {
    if (row !== undefined && holds(row, committed))
      return `the ${field} in entry ${entry} stands in the current row of ${id}; redact it once the row has moved on`;
  }
  return undefined;
}

function holds({ last_action, next_action }: Row, committed: string): boolean {
  return last_action?.commitment === committed || next_action?.summary.commitment === committed;
}
