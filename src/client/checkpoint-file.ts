import { open, readFile, rename } from "node:fs/promises";
import type { CheckpointStore } from "./log-trail.js";

/**
 * Keeps a client's highest checkpoint in a file of its own, made when there is none: `checkpoints` of ConnectOptions.
 * Each new one is synced beside it and renamed. Node only; in a browser this throws `unverifiable`.
 */
export function checkpointFile(path: string): CheckpointStore {
  return {
    async load() {
      try {
        return await readFile(path, "utf8");
      } catch (error) {
        if ((error as { code?: unknown }).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async save(note) {
      const file = await open(`${path}.new`, "w");
      try {
        await file.writeFile(note);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}
