import { faultsOf } from "../mutant.js";

/** Refusals and how they are counted: PROTOCOL.md sections 6 and 9. */
export const REFUSALS = [
  ...faultsOf("broker/wording.ts", "integration/refusals", [
    [
      "LIM-01",
      "A folded refusal is not counted.",
      "if (answer.folded) parts.folds.count(by, answer.refusal.reason, now);",
      "",
    ],
    ["LIM-04", "A folded refusal does not say so.", "...why, ...(folded && { folded }) };", "...why };"],
  ]),
  ...faultsOf("broker/folds.ts", "integration/refusals", [
    ["LIM-01", "A refusal is counted in every later fold.", "    this.#folded.clear();\n", ""],
    ["LIM-03", "A fold counts each reason once.", "(folded.counts[reason] ?? 0) + 1;", "1;"],
    ["LIM-03", "A fold names its first refusal as its last.", "folded.last_at = at;", ""],
    ["LIM-03", "Folds come twice as often.", "this.#clock.at(this.#everyMs,", "this.#clock.at(this.#everyMs / 2,"],
    [
      "LIM-03",
      "Refusals of all principals are folded into one.",
      "const key = `${by.role} ${by.subject}`;",
      "const key = `${by.role}`;",
    ],
  ]),
  ...faultsOf("kernel/refuse.ts", "unit/kernel/refusals", [
    [
      "LIM-02",
      "One refusal fewer is logged singly.",
      "fullAt - now > (refusal_burst - 1)",
      "fullAt - now >= (refusal_burst - 1)",
    ],
    ["LIM-02 LIM-04", "Every refusal is logged singly.", "events: folded ? [] : [event],", "events: [event],"],
    [
      "LIM-06",
      "A refused text that is too long is kept.",
      "return text.bytes > most ? { bytes: text.bytes, commitment: text.commitment } : text;",
      "return text;",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/refusals", [
    [
      "LIM-02",
      "A bucket never fills again.",
      "Math.max(state.refusalFullAt.get(principal) ?? 0, at);",
      "(state.refusalFullAt.get(principal) ?? at);",
    ],
    [
      "LIM-02",
      "A bucket never empties.",
      'if (event.by.role !== "broker") fillBucket(',
      'if (event.by.role === "broker") fillBucket(',
    ],
  ]),
  ...faultsOf("kernel/state.ts", "unit/kernel/refusals", [
    ["LIM-02", "All principals share one bucket.", "return `${role} ${subject}`;", "return role;"],
  ]),
  ...faultsOf("kernel/entry-lines.ts", "unit/kernel/entries property/entry-lines.property", [
    [
      "LIM-07",
      "An entry holds its texts.",
      'function committed(field: TextField, text: Text, onText: OnText): string {\n  onText(field, text);\n  return `{"bytes":${text.bytes},',
      'function committed(field: TextField, text: Text, onText: OnText): string {\n  onText(field, text);\n  return `{"text":${JSON.stringify(text.text)},"bytes":${text.bytes},',
    ],
    ["ANS-07", "An admission's task is not in the log.", `optional("task_id", content.task_id),`, ""],
    [
      "ANS-07",
      "The log names no worker_entry of an ack.",
      `    \`,"session":"\`,\n    session,\n    \`"\`,\n    workerEntry,`,
      `    \`,"session":"\`,\n    session,\n    \`"\`,`,
    ],
  ]),
  ...faultsOf("kernel/entries.ts", "unit/kernel/entries", [
    [
      "LIM-07",
      "A refused entry holds its text.",
      'return `{"bytes":${value.bytes},"commitment":"${value.commitment}"}`;',
      "return JSON.stringify(value);",
    ],
    ["ANS-07", "Texts are not read back with their entries.", "  text.text = utf8;\n", ""],
  ]),
  ...faultsOf("protocol/parse.ts", "unit/protocol/requests unit/protocol/parse", [
    [
      "REF-11",
      "OVERSIZE does not say where.",
      "max_bytes: fault.max_bytes, ...path };",
      "max_bytes: fault.max_bytes };",
    ],
    [
      "REF-11",
      "OVERSIZE does not say by how much.",
      "bytes: fault.bytes, max_bytes: fault.max_bytes",
      "max_bytes: fault.max_bytes",
    ],
  ]),
  ...faultsOf("broker/session.ts", "integration/isolation integration/races", [
    [
      "LIM-09",
      "A peer that throws takes others with it.",
      "    } catch {\n      this.end(CLOSE.FAULT);\n    }\n  }\n\n  /** Lets",
      "    } catch (error) {\n      throw error;\n    }\n  }\n\n  /** Lets",
    ],
  ]),
  ...faultsOf("broker/session.ts", "integration/failed-store", [
    [
      "LIM-09",
      "Work that fails for one session is nobody's.",
      "work.catch(() => this.end(CLOSE.FAULT));",
      "void work;",
    ],
  ]),
];
