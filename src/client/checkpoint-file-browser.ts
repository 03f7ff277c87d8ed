import { A2achanError } from "./errors.js";
import type { CheckpointStore } from "./log-trail.js";

/** `checkpoint-file.js` in a browser, which has no files: a store over `localStorage` is a page's own to write. */
export function checkpointFile(path: string): CheckpointStore {
  throw new A2achanError("unverifiable", { sentence: `A browser has no file ${path}; give checkpoints of your own.` });
}
