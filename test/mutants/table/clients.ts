import { faultsOf } from "../mutant.js";

/** What PROTOCOL.md asks of a client library. */
export const CLIENTS = [
  ...faultsOf("client/orchestrator.ts", "unit/client/orchestrator", [
    ["ADM-37", "A correction cites no digest.", "message, status_digest, key: key", "message, key: key"],
    ["ADM-38", "Every correction has the same key.", "key: key ?? this.#freshKey() }", 'key: key ?? "k" }'],
    ["LIFE-06", "A reconnect resumes nothing.", "...(book.cursor !== undefined && { resume_from: book.cursor }),", ""],
  ]),
  ...faultsOf("client/calls.ts", "unit/client/orchestrator unit/client/connection", [
    [
      "ADM-38",
      "What is sent again is not what was sent.",
      "map(([id, { frame }]) => ({ id, frame }));",
      "map(([id, { type }]) => ({ id, frame: writeFrame(this.#codec, { type, id } as never) }));",
    ],
  ]),
  ...faultsOf("client/receipt.ts", "unit/client/orchestrator", [
    ["ADM-39", "A repeat of an ended correction counts as sent.", "sent: !notSent,", "sent: true,"],
    [
      "ADM-39",
      "A repeat of a witnessed correction counts as not sent.",
      ` && stage !== "WITNESSED" && !isOpen(stage);`,
      " && !isOpen(stage);",
    ],
  ]),
  ...faultsOf("client/stage-book.ts", "unit/client/orchestrator", [
    ["LIFE-06", "A stage is told as often as it comes.", "if (!course.tell(notice)) return;", "course.tell(notice);"],
    [
      "LIFE-06",
      "The cursor stays at that of the welcome.",
      "      this.#cursor = cursor;\n      this.#cursorIndex",
      "      this.#cursorIndex",
    ],
  ]),
  ...faultsOf("client/inbox.ts", "unit/client/worker", [
    [
      "LIFE-11",
      "A correction is handed out whatever the answer to its receive.",
      `reply.type === "stage" && reply.stage === "DELIVERED";`,
      `reply.type === "stage";`,
    ],
    [
      "LIFE-11",
      "A correction is handed out that was ended while it was received.",
      "item.received && !item.over",
      "item.received",
    ],
    [
      "LIFE-12",
      "A correction is received when it is pushed.",
      "    if (known === undefined) this.#insert({ frame, received: false, over: false, outdated: false });",
      "    if (known === undefined) {\n      this.#insert({ frame, received: false, over: false, outdated: false });\n      void this.#receive(this.#waiting.at(-1) as Item);\n    }",
    ],
    ["LIFE-54", "A correction that is pushed again is handed out again.", "if (this.#handed.has(id)) return;", ""],
    [
      "LIFE-56",
      "The backlog is that of the push.",
      "received(item.frame, settled.length - at - 1 + this.#waiting.length, this.#lane);",
      "received(item.frame, item.frame.backlog, this.#lane);",
    ],
  ]),
  ...faultsOf("client/inbox.ts", "conformance/field/stale-context", [
    ["LIFE-55", "One correction is taken at a time.", "this.#waiting.splice(0)", "this.#waiting.splice(0, 1)"],
  ]),
  ...faultsOf("client/correction.ts", "conformance/field/stale-context", [
    [
      "LIFE-57",
      "A row that has moved since the push is not looked at.",
      "stale_context: stale_context || lane.hasMoved(cited.status_digest),",
      "stale_context,",
    ],
  ]),
  ...faultsOf("client/row-lane.ts", "unit/client/worker", [
    [
      "LIVE-21",
      "An ack that is made while there is no connection goes before the status.",
      "if (!again && this.#down) await this.#republish();",
      "",
    ],
    [
      "LIVE-21",
      "An ack in doubt goes before the status.",
      `if (stands.stage === "DELIVERED") await this.#republish();`,
      "",
    ],
    [
      "LIVE-21",
      "An older plan is published over that of an ack that was taken.",
      `if (stands.stage === "DELIVERED") await this.#republish();`,
      "await this.#republish();",
    ],
  ]),
  ...faultsOf("client/local-refusal.ts", "integration/client", [
    [
      "FRM-46",
      "A correction that msgpack cannot carry gets no receipt.",
      `if (type !== "correct") return { type: "refusal", id, ...refusal };`,
      `if (type !== undefined) return { type: "refusal", id, ...refusal };`,
    ],
  ]),
  ...faultsOf("client/ends.ts", "unit/client/connection", [
    [
      "FRM-37",
      "A client connects again after a final code.",
      "FINAL_CLOSE_CODES.includes(code)",
      "FINAL_CLOSE_CODES.includes(-code)",
    ],
  ]),
  ...faultsOf("client/connection.ts", "unit/client/connection", [
    [
      "FRM-38",
      "A client does not connect again.",
      "this.#retry = this.#runtime.clock.at(this.#backoff.next(stoodMs), () => this.#connect());",
      "this.#backoff.next(stoodMs);",
    ],
    [
      "FRM-38",
      "What is unanswered is not sent again.",
      "for (const { id, frame } of this.#calls.unanswered()) this",
      "for (const { id, frame } of this.#calls.unanswered().slice(1)) this",
    ],
  ]),
];
