import type { Planted } from "../planted.js";

/** Bugs of the journal: what is durable, and what a start makes of a disk. */
export const STORAGE: readonly Planted[] = [
  {
    name: "a batch is not synced",
    file: "src/storage/journal/journal.ts",
    find: "    await segment.file.sync();\n    segment.index.add",
    replace: "    segment.index.add",
    invariant: "I9",
  },
  {
    name: "the directory is not synced when a segment is made",
    file: "src/storage/journal/journal.ts",
    find: "    await this.#files.syncDirectory(this.#directory);\n    this.#leaves",
    replace: "    this.#leaves",
    invariant: "I9",
  },
  {
    name: "a torn tail is taken for damage",
    file: "src/storage/journal/recover.ts",
    find: "  if (!recovery.headSeen)\n",
    replace: "  if (!recovery.headSeen || broken !== undefined)\n",
    invariant: "I9",
  },
  {
    name: "damage below the head is taken for a torn tail",
    file: "src/storage/journal/recover.ts",
    find: "  if (size < head.size)\n    throw new DamagedLog(size, broken ?? `the log ends there, but ${head.size} entries were durable`);\n  if (!recovery.headSeen)\n",
    replace: "  if (size < 0)\n",
    invariant: "I9",
  },
  {
    name: "what is found above the head is not written again",
    file: "src/storage/journal/recover.ts",
    find: "  await settle(last, recovery.headEnd);\n",
    replace: "",
    invariant: "I9",
  },
];
