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
  {
    name: "an erasure is not synced",
    file: "src/storage/journal/journal.ts",
    find: "    if (found.length > 0) await segment.file.sync();\n",
    replace: "",
    invariant: "gone",
  },
  {
    name: "an erasure leaves the other lines of its text",
    file: "src/storage/journal/journal.ts",
    find: "for (const { offset, bytes } of found) {",
    replace: "for (const { offset, bytes } of found.slice(0, 1)) {",
    invariant: "gone",
  },
  {
    name: "an erasure that is in the cache alone counts as done",
    file: "src/storage/journal/journal.ts",
    find: "if (line.text === undefined || opensCommitment(line.text, place)) found",
    replace: "if (line.text !== undefined && opensCommitment(line.text, place)) found",
    invariant: "gone",
  },
  {
    name: "a text is erased before the head reaches its redaction",
    file: "src/storage/journal/journal.ts",
    find: "    await this.#writeNextHead();\n    // The same",
    replace: "    // The same",
    invariant: "kept",
  },
  {
    name: "an erasure that cannot read its batch ends nothing",
    file: "src/storage/journal/journal.ts",
    find: "erasing.catch((error: unknown) => void this.#poisoned(error));",
    replace: "erasing.catch(() => {});",
    invariant: "gone",
  },
  {
    name: "a text that is half erased is taken for damage",
    file: "src/storage/journal/lines.ts",
    find: "    if (bytes.subarray(at, next).every((byte) => byte === BLANK)) return true;\n",
    replace: "",
    invariant: "I9",
  },
];
