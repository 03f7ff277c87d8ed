import { faultsOf } from "../mutant.js";

/** The other ends of a correction: PROTOCOL.md section 4 from clause 4.40 on. */
export const ENDS = [
  ...faultsOf("kernel/lifecycle.ts", "unit/kernel/decline-withdraw", [
    [
      "LIFE-21",
      "A decline implies no receipt.",
      "delivered === undefined ? [declined] : [delivered, declined]",
      "[declined]",
    ],
    [
      "LIFE-36",
      "The reason of a decline is not kept.",
      `ended(found, "declined", now, by, { reason });`,
      `ended(found, "declined", now, by);`,
    ],
    ["LIFE-36", "A decline ends nothing.", "[declined] : [delivered, declined]", "[] : [delivered]"],
    [
      "LIFE-37",
      "A decline after the ack ends the correction.",
      "if (!isOpen(found.stage) || found.acked) return",
      "if (!isOpen(found.stage)) return",
    ],
    [
      "LIFE-02 REF-09",
      "A decline ends what has ended.",
      "if (!isOpen(found.stage) || found.acked) return",
      "if (found.acked) return",
    ],
    [
      "LIFE-38",
      "A withdrawn correction is SUPERSEDED.",
      `ended(correction, "withdrawn", now, by)`,
      `ended(correction, "superseded", now, by)`,
    ],
    [
      "LIFE-39",
      "A delivered correction can be withdrawn.",
      `kind === "withdraw" && correction.stage === "ADMITTED";`,
      `kind === "withdraw" && isOpen(correction.stage);`,
    ],
    [
      "LIFE-02 REF-09",
      "An ended correction can be withdrawn.",
      `kind === "withdraw" && correction.stage === "ADMITTED";`,
      `kind === "withdraw" && correction.stage !== "DELIVERED";`,
    ],
    [
      "LIFE-38",
      "Asking for a stage withdraws.",
      `kind === "withdraw" && correction.stage === "ADMITTED";`,
      `correction.stage === "ADMITTED";`,
    ],
    ["REF-08", "A sender can withdraw another's correction.", " || correction.sender.subject !== by.subject) {", ") {"],
  ]),
  ...faultsOf("kernel/lifecycle.ts", "unit/kernel/run-moved", [
    [
      "LIFE-45",
      "A delivered exact correction goes STALE.",
      ` && correction.stage === "ADMITTED";\n    if`,
      ";\n    if",
    ],
    ["LIFE-45", "An exact correction outlives its digest.", "if (!moved && !exact) continue;", "if (!moved) continue;"],
    [
      "LIFE-46",
      "Freshness is exact where nothing is said.",
      `correction.content.freshness === "exact"`,
      `correction.content.freshness !== "run"`,
    ],
    ["LIFE-44 LIFE-45", "Every STALE says DIGEST_MOVED.", `moved ? "RUN_CHANGED" : "DIGEST_MOVED"`, `"DIGEST_MOVED"`],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/run-moved unit/kernel/liveness", [
    [
      "LIFE-45 LIVE-08",
      "An exact correction outlives a digest that the broker moved.",
      "return [changed(after, cause, now, BROKER), ...ends];",
      "return [changed(after, cause, now, BROKER)];",
    ],
    ["LIFE-47", "A bye leaves corrections open.", "events: [...orphans, status]", "events: [status]"],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/expiry", [
    ["LIFE-41", "The end of the second window does not say WINDOW.", `due.acked ? { detail: "WINDOW" } : {}`, "{}"],
    [
      "LIFE-41",
      "The end of the first window says WINDOW.",
      `due.acked ? { detail: "WINDOW" } : {}`,
      `{ detail: "WINDOW" }`,
    ],
    [
      "LIFE-52",
      "A due end carries the time at which it was due.",
      `ended(due, "expired", now, `,
      `ended(due, "expired", due.dueAt, `,
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/expiry", [
    ["LIFE-02", "An ended correction expires.", "  state.due.remove(correction);", ""],
    [
      "LIFE-40 LIFE-23",
      "An acked correction expires at the end of its first window.",
      "  correction.dueAt = event.expires_at;",
      "",
    ],
    [
      "LIFE-40",
      "An acked correction stands before those that are due earlier.",
      "  correction.dueAt = event.expires_at;\n  state.due.put(correction);",
      "  correction.dueAt = event.expires_at;",
    ],
  ]),
  ...faultsOf("kernel/decide.ts", "unit/kernel/expiry", [
    [
      "LIFE-40 LIFE-52",
      "What is due at this very time does not end.",
      "due !== undefined && due.dueAt <= now;",
      "due !== undefined && due.dueAt < now;",
    ],
    ["LIFE-52 LIFE-53", "Nothing ends by itself.", "settle(state, command.now, record);", ""],
  ]),
  ...faultsOf("kernel/due.ts", "unit/kernel/due", [
    [
      "LIFE-52",
      "What is due at one time ends in any order.",
      "a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.index < b.index)",
      "a.dueAt < b.dueAt",
    ],
    [
      "LIFE-52",
      "What is due ends in the order of its entries.",
      "a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.index < b.index)",
      "a.index < b.index",
    ],
    [
      "LIFE-52",
      "What takes the place of something that ended stays there, too low.",
      "    last.place = place;\n    this.#settle(last);",
      "    last.place = place;\n    this.#heap[place] = last;",
    ],
    [
      "LIFE-52",
      "What is due earlier than before keeps its place.",
      "while (at > 0) {",
      "while (at > 0 && this.#heap[at] === undefined) {",
    ],
  ]),
  ...faultsOf(
    "kernel/evolve.ts",
    "unit/kernel/expiry unit/kernel/liveness unit/kernel/decline-withdraw unit/kernel/room",
    [
      ["LIFE-02", "An ended correction stays among the worker's open ones.", "worker.open.delete(id);", ""],
      ["LIFE-42", "An ended correction keeps its text.", "correction.content.message = { bytes, commitment };", ""],
    ],
  ),
  ...faultsOf("broker/core.ts", "integration/liveness integration/resume", [
    ["LIFE-53", "The broker takes no step at the next due time.", "      this.#armTick(now);", ""],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/grants", [
    ["LIFE-48", "A revocation ends nothing.", "events: [revoked, ...ends]", "events: [revoked]"],
    ["LIFE-48", "A grant that takes another's place ends nothing.", "events: [added, ...ends]", "events: [added]"],
    [
      "LIFE-48",
      "A revocation ends what another token of the sender covers.",
      " && !stillCovered(state, correction, at));",
      ");",
    ],
    [
      "LIFE-50",
      "A revocation ends what was delivered.",
      `correction.stage === "ADMITTED" && !stillCovered`,
      "!stillCovered",
    ],
    [
      "LIFE-49",
      "A grant that expires ends nothing.",
      "const gone = grant === undefined ? [] : uncovered(state, grant, due.dueAt);",
      "const gone = grant === undefined ? [] : uncovered(state, grant, due.dueAt - 1);",
    ],
    [
      "LIFE-49",
      "The end of a grant is judged when the broker comes round to it.",
      "uncovered(state, grant, due.dueAt);",
      "uncovered(state, grant, now);",
    ],
  ]),
  ...faultsOf("kernel/authority.ts", "unit/kernel/grants", [
    [
      "LIFE-48",
      "A token that may not correct keeps corrections open.",
      ` || !grant.verbs.includes("correct")) continue;`,
      ") continue;",
    ],
    [
      "LIFE-48",
      "A revoked token keeps corrections open.",
      "|| !isValid(grant, now) || !grant.verbs",
      "|| !grant.verbs",
    ],
    [
      "LIFE-48",
      "A token for another scope keeps corrections open.",
      "if (covers(grant.patterns, content)) return true;",
      "return true;",
    ],
  ]),
];
