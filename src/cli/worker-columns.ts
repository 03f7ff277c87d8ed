import type { View } from "../client/index.js";
import { LIVENESS, decodeId } from "../protocol/index.js";
import { livenessColour } from "./stage-words.js";
import type { Column } from "./terminal/table.js";

/** A list of workers, for people: ids are shown as they were before `encodeId`. */
export const WORKER_COLUMNS: readonly Column<View>[] = [
  { title: "WORKER", cell: ({ row }) => decodeId(row.worker_id), colour: () => "bold" },
  { title: "STATE", cell: ({ liveness }) => liveness, colour: ({ liveness }) => livenessColour(liveness) },
  { title: "ISSUE", cell: ({ row }) => decodeId(row.issue) },
  { title: "LANE", cell: ({ row }) => decodeId(row.lane) },
  { title: "SEQ", cell: ({ row }) => row.seq },
  {
    title: "OPEN",
    cell: ({ pending }) => pending,
    colour: ({ pending }) => (pending > 0 ? "yellow" : undefined),
  },
  { title: "NEXT ACTION", cell: ({ row }) => row.next_action?.summary },
];

/** How many workers there are, and how many of each kind. */
export function countOf(views: readonly View[]): string {
  const kinds = LIVENESS.map((kind) => [kind, views.filter(({ liveness }) => liveness === kind).length] as const);
  const parts = kinds.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  return [`${views.length} ${views.length === 1 ? "worker" : "workers"}`, ...parts].join(", ");
}

/** Those that can be corrected first, then by id. */
export function inOrder(views: readonly View[]): View[] {
  return views.toSorted(
    (a, b) =>
      LIVENESS.indexOf(a.liveness) - LIVENESS.indexOf(b.liveness) || (a.row.worker_id < b.row.worker_id ? -1 : 1),
  );
}
