import { faultsOf } from "../mutant.js";

/** What the journal makes durable and takes up again: PROTOCOL.md section 7, WITNESS-LOG.md. */
export const RECOVERY = [
  ...faultsOf("storage/journal/recover.ts", "unit/storage/journal/recovery", [
    [
      "ANS-02",
      "Whole batches behind a broken one are set aside.",
      "if (holdsBatch(tail)) throw",
      "if (tail.length === 0) throw",
    ],
    ["ANS-02", "A torn tail is set aside nowhere.", "await torn.write(tail, 0);", ""],
    ["ANS-02", "A torn tail stays in the segment.", "  await file.truncate(bytes);\n", ""],
    ["ANS-02", "A torn tail is cut off before its copy is durable.", "    await torn.sync();\n", ""],
    [
      "ANS-02",
      "A second torn tail takes the place of the first.",
      "while (await files.exists(`${path}.${n}.torn`)) n += 1;",
      "",
    ],
    [
      "ANS-07",
      "A batch of another tree is taken.",
      "if (rootHex(this.frontier) !== batch.line.root)\n",
      'if (batch.line.root === "")\n',
    ],
  ]),
  ...faultsOf("storage/journal/recover.ts", "unit/storage/journal/head unit/storage/journal/segments", [
    ["ANS-02", "A log that was cut below its head is taken.", "if (size < head.size)\n", "if (size < 0)\n"],
    ["ANS-02", "A log is taken whose head is of another.", "if (line.root !== root) throw", 'if (root === "") throw'],
    [
      "ANS-02",
      "A log is taken whose batches pass over its head.",
      "if (!recovery.headSeen)\n",
      "if (recovery.headSeen === undefined)\n",
    ],
    ["ANS-02", "A missing segment is passed over.", "if (ordinal !== at) throw", "if (ordinal < at) throw"],
    [
      "ANS-02",
      "A sealed segment may end early.",
      "if (this.broken !== undefined) throw new DamagedLog(first + segment.count, this.broken);",
      "",
    ],
    ["ANS-07", "The hashes of a sealed segment are trusted.", " && rootHex(frontier) === root) {", ") {"],
  ]),
  ...faultsOf("storage/journal/recover.ts", "unit/storage/journal/crashes", [
    ["ANS-02", "What the cache alone may hold is not written again.", "    await file.write(chunk, at);\n", ""],
    [
      "ANS-02",
      "What was written again is not synced.",
      "    await file.write(chunk, at);\n  }\n  await file.sync();",
      "    await file.write(chunk, at);\n  }",
    ],
  ]),
  ...faultsOf("storage/journal/batches.ts", "unit/storage/journal/recovery unit/storage/journal/cuts", [
    [
      "ANS-02",
      "A text may be of any entry.",
      "if (texts.some(({ index }) => index < first || index >= end)) return",
      "if (texts.some(({ index }) => index < 0)) return",
    ],
    [
      "ANS-02",
      "Entries may stand behind the texts of their batch.",
      "if (entriesEnd !== at) return",
      "if (entriesEnd > at) return",
    ],
    [
      "ANS-02",
      "A last batch that is incomplete is no fault.",
      "return held === start ? { offset: base } : { offset: base, broken: INCOMPLETE };",
      "return { offset: base };",
    ],
  ]),
  ...faultsOf("storage/journal/lines.ts", "unit/storage/journal/recovery", [
    [
      "ANS-02",
      "The crc32 of a text is not looked at.",
      "return sameBytes(line, textLine(text)) ? { index, field, salt, utf8 } : undefined;",
      "return { index, field, salt, utf8 };",
    ],
  ]),
  ...faultsOf("storage/journal/head.ts", "unit/storage/journal/head unit/storage/journal/journal", [
    ["ANS-02", "The head is always written to one slot.", "(this.#turn % SLOTS) * SLOT_BYTES", "0"],
    [
      "ANS-02",
      "The older slot of the head counts.",
      "((b?.turn ?? -1) > (a?.turn ?? -1) ? b : a)",
      "((b?.turn ?? Infinity) < (a?.turn ?? Infinity) ? b : a)",
    ],
    [
      "ANS-02",
      "A torn slot of the head counts.",
      "return slotOf(turn, { size, root }).equals(bytes) ? { turn, head: { size, root } } : undefined;",
      "return { turn, head: { size, root } };",
    ],
    ["ANS-02", "The head is not synced.", "SLOT_BYTES);\n    await this.#file.sync();", "SLOT_BYTES);"],
  ]),
  ...faultsOf("storage/journal/journal.ts", "unit/storage/journal/journal", [
    ["ANS-01 ANS-02", "A batch is not synced.", "    await segment.file.sync();\n", ""],
    [
      "ANS-03",
      "A batch is tried after one that failed.",
      "if (this.#poison !== undefined) throw this.#poison;\n    this.#appending",
      "this.#appending",
    ],
    [
      "ANS-03",
      "A batch is written after the head has failed.",
      "if (this.#poison !== undefined) throw this.#poison;\n    await segment",
      "await segment",
    ],
    [
      "ROW-08",
      "A batch is written behind another writer's.",
      "if (first !== this.size())\n",
      "if (first < this.size())\n",
    ],
    [
      "ROW-08",
      "A segment that grew under the journal is written to.",
      "if ((await this.#last().file.size()) !== this.#last().bytes)\n",
      "if ((await this.#last().file.size()) < this.#last().bytes)\n",
    ],
    ["ANS-02", "The head does not follow.", "this.#headTimer ??= this.#later(HEAD_MS, () => this.#headDue());", ""],
    [
      "ANS-05",
      "A head that fails ends nothing.",
      "\n      .catch((error: unknown) => void this.#poisoned(error));",
      "\n      .catch(() => {});",
    ],
    [
      "ANS-02",
      "A new segment's name is not durable.",
      "    await this.#files.syncDirectory(this.#directory);\n    this.#leaves",
      "    this.#leaves",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/replay unit/kernel/entries", [
    [
      "ANS-07",
      "A text that stays is lost when the log is read back.",
      "if (text.text === undefined && before?.commitment === text.commitment) return before;",
      "",
    ],
  ]),
  ...faultsOf("kernel/entries.ts", "unit/kernel/entries", [
    [
      "ANS-07",
      "Each run of entries that is read back begins with the first text.",
      "const index = first + from + run.length;",
      "const index = first + run.length;",
    ],
  ]),
  ...faultsOf("storage/journal/journal.ts", "unit/storage/journal/head", [
    ["ANS-02", "A log without its head is taken.", "if (segments > 0) throw", "if (segments < 0) throw"],
  ]),
];
