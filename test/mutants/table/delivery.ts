import { faultsOf } from "../mutant.js";

/** Delivery, and what the sender is told: PROTOCOL.md section 4, clauses 4.3 to 4.22. */
export const DELIVERY = [
  ...faultsOf("kernel/lifecycle.ts", "unit/kernel/delivery", [
    [
      "LIFE-01 LIFE-16",
      "An acked correction can be delivered again.",
      `if (correction.stage !== "ADMITTED" && correction.stage !== "DELIVERED") return undefined;`,
      "",
    ],
    ["LIFE-14", "A second receive leaves an entry.", "if (correction.lastReceipt === session) return undefined;", ""],
    [
      "LIFE-15",
      "The receipt of a later session leaves no entry.",
      "if (correction.lastReceipt === session) return undefined;",
      "if (correction.lastReceipt !== undefined) return undefined;",
    ],
    ["LIFE-13", "Every delivered entry is a first attempt.", "attempt: correction.receipts + 1,", "attempt: 1,"],
    ["LIFE-13", "No delivered entry says redelivered.", "redelivered: correction.receipts > 0,", "redelivered: false,"],
    [
      "LIFE-46",
      "A delivered entry never says stale_context.",
      "stale_context: correction.worker.digest !== correction.content.status_digest,",
      "stale_context: false,",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/delivery unit/kernel/admission unit/kernel/ack", [
    [
      "LIFE-07",
      "A correction is DELIVERED by its admission.",
      `    stage: "ADMITTED",\n    stageIndex`,
      `    stage: "DELIVERED",\n    stageIndex`,
    ],
    [
      "LIFE-15",
      "A later receipt takes the place of the first.",
      `if (correction.stage === "ADMITTED") setStage(`,
      "setStage(",
    ],
    ["LIFE-20", "An ack leaves the stage as it was.", `setStage(correction, "ACKED", index, event.at);`, ""],
  ]),
  ...faultsOf("kernel/views.ts", "unit/kernel/delivery unit/kernel/decline-withdraw", [
    [
      "LIFE-09",
      "Halts wait in the queue.",
      "return halts.length === 0 ? waiting : ",
      "return halts.length >= 0 ? waiting : ",
    ],
    [
      "LIFE-10",
      "An un-acked correction holds up the next.",
      ".filter(({ acked }) => !acked);",
      ".filter(({ acked }) => !acked).slice(0, 1);",
    ],
    ["LIFE-16", "An acked correction is pushed again.", ".filter(({ acked }) => !acked);", ";"],
    [
      "LIFE-13",
      "A push counts this session's own receipt.",
      "correction.lastReceipt === session ? correction.receipts - 1 : correction.receipts;",
      "correction.receipts;",
    ],
    ["LIFE-13", "No push says redelivered.", "redelivered: earlier > 0,", "redelivered: false,"],
    [
      "LIFE-18 LIFE-46",
      "No push says stale_context.",
      "stale_context: correction.worker.digest !== content.status_digest,",
      "stale_context: false,",
    ],
    [
      "LIFE-18",
      "A push names the seq of now.",
      "written_at_seq: correction.seq,",
      "written_at_seq: state.workers.get(correction.workerId)?.row?.seq ?? 0,",
    ],
    ["LIFE-18", "A push does not say its age.", "age_ms: Math.max(0, now - correction.admittedAt),", "age_ms: 0,"],
    [
      "LIFE-19",
      "A push names the worker as its sender.",
      "orchestrator_id: correction.sender.subject,\n    admitted_at",
      "orchestrator_id: correction.worker.id,\n    admitted_at",
    ],
    [
      "LIFE-19",
      "A push says when its stage was set, not when it was admitted.",
      "admitted_at: correction.admittedAt,",
      "admitted_at: correction.stageAt,",
    ],
  ]),
  ...faultsOf("broker/deliveries.ts", "integration/liveness integration/races integration/sessions", [
    [
      "LIFE-08",
      "A correction is pushed while the row is not live.",
      " || worker?.row?.live !== true) return;",
      " || worker === undefined) return;",
    ],
    ["LIVE-06", "A session with a closed inbox is pushed corrections.", "!session.seat.inboxOpen || ", ""],
    ["LIFE-18", "A push counts itself as waiting behind it.", "waiting.length - at - 1)", "waiting.length - at)"],
    [
      "LIFE-42",
      "A correction that ended while its push waited is pushed.",
      "if (!pushed.has(correction.id)) return;",
      "",
    ],
  ]),
  ...faultsOf("broker/deliveries.ts", "integration/resume", [
    [
      "LIFE-17",
      "A session is not told that what it was pushed has ended.",
      "if (session === undefined || left !== true || byWorker) return;",
      "if (session !== undefined) return;",
    ],
    ["LIFE-17", "A session is told of ends of its own making.", " || byWorker) return;", ") return;"],
    ["LIFE-17", "A session is told of the end of what it was never pushed.", "left !== true || byWorker", "byWorker"],
  ]),
  ...faultsOf("broker/effects.ts", "integration/liveness integration/resume integration/races", [
    ["LIFE-08", "A new correction is not pushed.", ` || stage === "ADMITTED" || isEnd(stage);`, " || isEnd(stage);"],
    [
      "LIFE-08",
      "What waits is not pushed when the row becomes live.",
      `const moves = event.kind === "status" || event.kind`,
      "const moves = event.kind",
    ],
    [
      "LIFE-03",
      "A sender's ADMITTED is pushed to the asking session too.",
      `stage.stage === "ADMITTED" ? asker : undefined);`,
      "undefined);",
    ],
    [
      "LIFE-03",
      "A sender is not pushed the stages that it brought about.",
      `stage.stage === "ADMITTED" ? asker : undefined);`,
      "asker);",
    ],
    [
      "ANS-09 LIFE-05",
      "Every stage of a step carries the index of its first entry.",
      "tellStage(parts, event, first + at, asker)",
      "tellStage(parts, event, first, asker)",
    ],
  ]),
  ...faultsOf("kernel/views.ts", "integration/answers", [
    [
      "LIFE-05",
      "stage answers with the index of the admission.",
      "index: correction.stageIndex,",
      "index: correction.index,",
    ],
    [
      "LIFE-05",
      "stage answers with the time of the admission.",
      "at: correction.stageAt,",
      "at: correction.admittedAt,",
    ],
  ]),
  ...faultsOf("kernel/views.ts", "integration/sessions", [
    [
      "LIFE-15",
      "A sender is told DELIVERED by each session's receipt.",
      `event.attempt === 1 ? viewOf(event, "DELIVERED", index) : undefined;`,
      `viewOf(event, "DELIVERED", index);`,
    ],
  ]),
];
