import type { WorkerStatus } from "../protocol/index.js";

/** A field of a row, as the correction cited it and as it is now; undefined where the row has none. */
export interface MovedField {
  field: keyof WorkerStatus;
  cited: WorkerStatus[keyof WorkerStatus];
  current: WorkerStatus[keyof WorkerStatus];
}

const FIELDS = [
  "schema",
  "worker_id",
  "issue",
  "task_id",
  "lane",
  "live",
  "seq",
  "last_action",
  "next_action",
] as const satisfies readonly (keyof WorkerStatus)[];

/** The fields in which two rows of a worker differ, in the order of PROTOCOL.md section 2. */
export function movedFields(cited: WorkerStatus, current: WorkerStatus): MovedField[] {
  return FIELDS.filter((field) => !same(cited[field], current[field])).map((field) => ({
    field,
    cited: cited[field],
    current: current[field],
  }));
}

type Value = WorkerStatus[keyof WorkerStatus];

function same(a: Value, b: Value): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  return a.summary === b.summary && a.reflects.join() === b.reflects.join();
}
