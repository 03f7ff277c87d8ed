import { faultsOf } from "../mutant.js";

/** Release after durable, and a store that fails: PROTOCOL.md section 7. */
export const DURABLE = [
  ...faultsOf("broker/outbox.ts", "unit/broker/outbox integration/durability", [
    [
      "ANS-01 ANS-06",
      "Answers leave before they are durable.",
      "if (stamp > this.#durable || this.#dropped ||",
      "if (this.#dropped ||",
    ],
    ["ANS-01", "An answer leaves one entry early.", "stamp > this.#durable ||", "stamp > this.#durable + 1 ||"],
    [
      "ANS-06",
      "What is being released goes on after a fault.",
      "stamp > this.#durable || this.#dropped || left",
      "stamp > this.#durable || left",
    ],
    ["ANS-06", "What is posted after a fault waits to leave.", "if (this.#dropped) return;", ""],
    [
      "LIFE-04",
      "Later answers overtake earlier ones.",
      "this.#items.push({ stamp, release });",
      "this.#items.unshift({ stamp, release });",
    ],
    ["LIFE-04", "What a release posts overtakes what waits.", "if (this.#leaving) return;", ""],
  ]),
  ...faultsOf("broker/core.ts", "integration/durability integration/failed-store integration/kernel-fault", [
    [
      "ANS-01",
      "An answer is stamped with what is durable at its decision.",
      "this.outbox.post(this.state.size, release);",
      "this.outbox.post(this.durable, release);",
    ],
    [
      "ANS-04",
      "The broker decides after a fault.",
      "    this.#faulted = true;\n    this.halt();",
      "    this.#faulted = true;",
    ],
    ["ANS-05", "A fault closes nobody.", "    this.#events.fault(error);\n  }\n\n  /** Lets", "  }\n\n  /** Lets"],
    ["ANS-03", "The broker writes on after its store has failed.", "    this.#writer.halt();\n", ""],
    [
      "ANS-04 ANS-06",
      "A kernel that throws is passed over.",
      "      this.#fail(error);\n      return undefined;",
      "      return undefined;",
    ],
    [
      "ANS-04 ANS-05",
      "A store that fails outside of an append is not noticed.",
      "void store.failed.then((error) => this.#fail(error));",
      "",
    ],
  ]),
  ...faultsOf("broker/writer.ts", "integration/durability integration/failed-store", [
    ["ANS-03 ANS-05", "A store that fails is not told of.", "        this.#events.fault(error);\n", ""],
  ]),
  ...faultsOf("broker/broker.ts", "integration/failed-store integration/http", [
    ["ANS-05", "Sessions stay open after a fault.", "opened.broker?.end(CLOSE.FAULT);", ""],
    [
      "ANS-08",
      "Sessions are closed as done when the broker stops.",
      "this.end(CLOSE.DRAINING);",
      "this.end(CLOSE.FAULT);",
    ],
  ]),
  ...faultsOf("protocol/close-codes.ts", "surface", [
    ["FRM-36", "A close code has another number.", `FENCED: { code: 4409,`, `FENCED: { code: 4410,`],
    ["FRM-36", "A close has another reason.", `reason: "bad frame"`, `reason: "bad"`],
  ]),
  ...faultsOf("broker/writer.ts", "integration/refusals", [
    ["ANS-02", "Texts are not written.", "      batch.texts.push(...texts);\n", ""],
  ]),
  // A store that holds its batches back would never come to an end with this one.
  ...faultsOf("broker/writer.ts", "integration/failed-store", [
    [
      "ANS-01 ANS-02",
      "A batch counts as durable when it is on its way.",
      "await this.#store.append({ first",
      "void this.#store.append({ first",
    ],
  ]),
  ...faultsOf("broker/writer.ts", "integration/durability", [
    [
      "ANS-01",
      "What is decided meanwhile counts as durable.",
      "this.#events.durable(this.#durable);",
      "this.#events.durable(this.#durable + (this.#waiting[0]?.entries.length ?? 0));",
    ],
  ]),
];
