import { faultsOf } from "../mutant.js";

/** Redaction and verifying, which WITNESS-LOG.md alone asks for: they break no requirement of PROTOCOL.md. */
export const WITNESS = [
  ...faultsOf("kernel/redaction.ts", "unit/kernel/redaction", [
    [
      "",
      "A text of an entry that is not there is redacted.",
      "if (entry >= state.size) return",
      "if (entry < 0) return",
    ],
    [
      "",
      "The message of an open correction is redacted.",
      "if (content.message.commitment === committed)\n",
      "if (content.message.commitment === field)\n",
    ],
    [
      "",
      "A last_action of a current row is redacted.",
      "return last_action?.commitment === committed || next",
      "return next",
    ],
    ["", "A plan of a current row is redacted.", " || next_action?.summary.commitment === committed;", ";"],
    [
      "",
      "A text that is kept is redacted all the same.",
      "if (whyKept(state, command) !== undefined) return DONE;",
      "",
    ],
  ]),
  ...faultsOf("broker/broker.ts", "integration/redact", [
    ["", "A start leaves an erasure undone.", "    await finishRedactions(store, core.redacted);\n", ""],
  ]),
  ...faultsOf("broker/core.ts", "integration/redact", [
    [
      "",
      "A start forgets what was redacted before it.",
      'if (event.kind === "broker_started") redacted.length = 0;',
      "redacted.length = 0;",
    ],
  ]),
  ...faultsOf("broker/redactions.ts", "integration/redact", [
    ["", "A redacted text is not erased.", "  for (const place of redacted) await store.redact(place);\n", ""],
    [
      "",
      "A text is redacted by the entry that says it again.",
      "one.salt === salt)?.index ?? index;",
      'one.salt === "")?.index ?? index;',
    ],
    [
      "",
      "Texts of other fields go too.",
      "request.field === undefined || request.field === field",
      "field !== undefined",
    ],
    [
      "",
      "The same words elsewhere go unmentioned.",
      "const elsewhere = request.everywhere === true ? []",
      "const elsewhere = core.running ? []",
    ],
    [
      "",
      "Everywhere is here alone.",
      "request.everywhere === true ? [...asked, ...same]",
      "request.everywhere === true ? [...asked]",
    ],
    [
      "",
      "A text that a row has kept is not found.",
      "return [...texts, ...brought.filter((text) => text.index < index)];",
      "return texts;",
    ],
  ]),
  ...faultsOf("storage/journal/journal.ts", "unit/storage/journal/erasure", [
    ["", "An erasure is not synced.", "    if (found.length > 0) await segment.file.sync();\n", ""],
    [
      "",
      "An erasure that is in the cache alone counts as done.",
      "if (line.text === undefined || opensCommitment(line.text, place)) found",
      "if (line.text !== undefined && opensCommitment(line.text, place)) found",
    ],
    [
      "",
      "An erasure does not wait for the head.",
      "    await this.#writeNextHead();\n    // The same",
      "    // The same",
    ],
    [
      "",
      "A batch that cannot be read counts as erased.",
      "if (broken !== undefined) throw new DamagedLog(place.index, broken);",
      "",
    ],
  ]),
  ...faultsOf("storage/journal/lines.ts", "unit/storage/journal/erasure", [
    [
      "",
      "A half erased text is damage.",
      "    if (bytes.subarray(at, next).every((byte) => byte === BLANK)) return true;\n",
      "",
    ],
    ["", "A text behind a rotted newline is half erased.", "line.indexOf(TEXT_START, 1) !== -1 || ", ""],
    [
      "",
      "A text before a rotted newline is half erased.",
      " || (end !== -1 && line.length - end > TEXT_END.length + CRC_DIGITS)",
      "",
    ],
  ]),
  ...faultsOf("kernel/replayed-command.ts", "property/replay.property unit/cli/verifier", [
    [
      "",
      "A redaction is not decided again.",
      'return { kind: "redact", now, by, entry, field, committed };',
      "return UNDECIDED;",
    ],
  ]),
  ...faultsOf("kernel/replayed-command.ts", "unit/cli/verifier", [
    [
      "",
      "Who verifies takes an orchestrator's bye for a worker's.",
      'session !== undefined && worker_id !== undefined) {\n      return { kind: "bye", now, by, worker_id, session };',
      'session !== undefined) {\n      return { kind: "bye", now, by, worker_id: worker_id ?? "", session };',
    ],
  ]),
  ...faultsOf("cli/audit/verifier.ts", "unit/cli/verifier", [
    ["", "An entry of any shape is taken.", "(isWellFormed(entry) ? undefined : NO_ENTRY)", "undefined"],
    [
      "",
      "An entry that has no number is not missed.",
      "worker_entry === undefined && before === undefined",
      "worker_entry === undefined",
    ],
    ["", "Who verifies does not look at places.", "if (index !== expected) return", "if (index < 0) return"],
    ["", "An entry may call itself by another index.", "if (entry.index !== index) return", "if (index < 0) return"],
    ["", "A log may end before its checkpoint.", "if (missed !== undefined) this", 'if (missed?.name === "") this'],
    ["", "An empty log verifies.", 'if (size === 0) this.#differs(0, "the log is empty");', ""],
    ["", "A log may end in the middle of a step.", "this.#difference ??= this.#replay.end();", ""],
    [
      "",
      "A withheld text is no finding.",
      '(texts === "whole" || (texts === "some" && matching > 0))',
      '(texts === "some" && matching > 0)',
    ],
    ["", "A text that is withheld among others is no finding.", ' || (texts === "some" && matching > 0)', ""],
    ["", "An export without texts withholds them.", '(texts === "some" && matching > 0)', 'texts === "some"'],
    [
      "",
      "A log may begin with anything.",
      'if (entry.kind !== "log_opened") return',
      'if (entry.kind === "redacted") return',
    ],
    [
      "",
      "The log's key may be of another name.",
      "key === undefined || key.name !== entry.origin",
      "key === undefined",
    ],
    [
      "",
      "Another key than the one given is taken.",
      "known.name !== key.name || known.id !== key.id",
      'known.name === ""',
    ],
    [
      "",
      "A head file is not held against the log.",
      "if (head !== undefined && head.size > 0) this",
      'if (head?.root === "") this',
    ],
    [
      "",
      "A root that a checkpoint does not have is agreed with.",
      "if (due.root !== root) return",
      'if (due.root === "") return',
    ],
    [
      "",
      "The root of a batch is not looked at.",
      "if (batch !== undefined && batch.root !== root) return",
      'if (batch?.root === "") return',
    ],
    [
      "",
      "An entry of a worker may be left out.",
      "if (worker_entry === next) return undefined;",
      "if (worker_entry >= next) return undefined;",
    ],
    [
      "",
      "Checkpoints are met in the order in which they were given.",
      "    this.#due.sort((a, b) => a.size - b.size);\n",
      "",
    ],
  ]),
  ...faultsOf("cli/audit/text-check.ts", "unit/cli/verifier", [
    ["", "A text may belong to nothing.", "if (stray !== undefined) return", 'if (stray?.salt === "") return'],
    [
      "",
      "A text may be another than was committed to.",
      "if (text !== undefined && !opens(text, held)) return",
      'if (text?.salt === "") return',
    ],
    [
      "",
      "A refused text that was too long is missed.",
      'else if (event.kind !== "refused" || held.bytes <= most)',
      "else",
    ],
    [
      "",
      "A redaction may name another text.",
      "if (absent !== beginningOf(committed)) return",
      "if (absent < 0) return",
    ],
    ["", "A redacted text is withheld.", "    this.#absent.delete(placeOf(entry, field));\n", ""],
    ["", "A text that a row keeps is missed.", "if (row[field] === committed) return true;", ""],
    ["", "What one worker's row keeps, another's does.", "this.#kept.get(event.worker_id);", 'this.#kept.get("");'],
  ]),
];
