import { faultsOf } from "../mutant.js";

/** Delivery, ack and planned action: PROTOCOL.md section 4 up to clause 4.39. */
export const LIFECYCLE = [
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
      "stale_context: state.workers.get(correction.workerId)?.digest !== correction.content.status_digest,",
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
  ...faultsOf("kernel/evolve.ts", "unit/kernel/expiry", [
    [
      "LIFE-23",
      "An ack opens no second window.",
      `"ACKED", index, event.at);\n      setDue(state, correction, event.expires_at);`,
      `"ACKED", index, event.at);`,
    ],
    [
      "LIFE-43",
      "Each late ack leaves an entry.",
      "known(state, event.correction_id).lateAck = true;",
      "known(state, event.correction_id);",
    ],
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
      "stale_context: state.workers.get(correction.workerId)?.digest !== content.status_digest,",
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
      "orchestrator_id: correction.sender,\n    admitted_at",
      "orchestrator_id: correction.workerId,\n    admitted_at",
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

  ...faultsOf("kernel/action.ts", "unit/kernel/ack", [
    ["LIFE-22", "A repeated ack leaves an entry.", "if (found.acked) return stageAnswer([], found);", ""],
    [
      "LIFE-20",
      "Only the oldest open correction can be acked.",
      "if (found.acked) return",
      "if (found.acked || [...(state.workers.get(worker_id)?.open.keys() ?? [])][0] !== found.id) return",
    ],
    ["LIFE-21", "An ack implies no receipt.", "delivered === undefined ? [acked] : [delivered, acked];", "[acked];"],
    ["LIFE-33", "An ack stands before the receipt that it implies.", "[delivered, acked];", "[acked, delivered];"],
    ["LIFE-25 ROW-05", "An ack that restates moves the row.", "if (plans) {", "if (next_action !== undefined) {"],
    [
      "LIFE-29",
      "A plan in an ack clears the row's last_action.",
      "const after: Row = { ...before, next_action: nextAction(before, next_action) };",
      "const after: Row = { worker_id, issue: before.issue, lane: before.lane, live: true, seq: before.seq, next_action: nextAction(before, next_action) };",
    ],
    [
      "LIFE-26 LIFE-27",
      "What is acked in a frame is not judged by its plan.",
      ` && correction !== justAcked) continue;`,
      ") continue;",
    ],
    [
      "LIFE-35",
      "The answer to a planned action lists no outcomes.",
      "return stageAnswer(events, found, plans);",
      "return stageAnswer(events, found);",
    ],
    [
      "REF-10",
      "An ack that is refused for its plan acks all the same.",
      'if (plans && overDigestRate(state, worker, now)) return no({ reason: "RATE_LIMITED", detail: "RATE" });',
      'if (plans && overDigestRate(state, worker, now)) return { ...no({ reason: "RATE_LIMITED", detail: "RATE" }), events: [{ kind: "acked", at: now, by, ...ofCorrection(found), session, expires_at: found.expiresAt }] };',
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/expiry", [
    [
      "LIFE-23",
      "The second window is of the default length.",
      "const window = found.expiresAt - found.admittedAt;",
      "const window = state.limits.ttl_default_ms;",
    ],
    [
      "LIFE-43",
      "Each late ack leaves an entry, whatever came before.",
      " || correction.lateAck) return [];",
      ") return [];",
    ],
    [
      "LIFE-43",
      "An ack after the second window leaves a late_ack.",
      "|| correction.acked || correction.lateAck",
      "|| correction.lateAck",
    ],
    [
      "LIFE-43",
      "A late ack leaves nothing.",
      `if (correction.stage !== "EXPIRED" ||`,
      `if (correction.stage === "EXPIRED" ||`,
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/planned-action", [
    ["LIFE-24", "Other reflects are no other plan.", " || !sameReflects(now.reflects, next.reflects ?? []);", ";"],
    ["LIFE-24", "Another summary is no other plan.", "!sameText(now.summary, next.summary) || ", ""],
    ["LIFE-24", "A planned action leaves no entry.", "events.push(plan, ...judged);", "events.push(...judged);"],
    [
      "LIFE-25",
      "A next_action that restates judges.",
      "after.next_action !== undefined && differs(before, next_action)) {",
      "after.next_action !== undefined) {",
    ],
    ["LIFE-27", "An acked correction is WITNESSED unnamed.", `named ? "witnessed" : "unreflected"`, `"witnessed"`],
    [
      "LIFE-26",
      "An acked correction is UNREFLECTED though named.",
      `named ? "witnessed" : "unreflected"`,
      `"unreflected"`,
    ],
    [
      "LIFE-28",
      "An id in reflects ends a correction that was not acked.",
      " && correction !== justAcked) continue;",
      " && !plan.reflects.includes(correction.id)) continue;",
    ],
    [
      "LIFE-30",
      "A witnessed echo is not flagged.",
      "sameText(before.next_action.summary, summary)) plan.echo = true;",
      "before.next_action.summary === undefined) plan.echo = true;",
    ],
    [
      "LIFE-30",
      "Every WITNESSED is an echo.",
      "sameText(before.next_action.summary, summary)) plan.echo = true;",
      "true) plan.echo = true;",
    ],
    ["LIFE-31", "via is not kept.", "if (via !== undefined) plan.via = via;", ""],
    [
      "LIFE-32",
      "A status without next_action keeps the row's.",
      "after.next_action = nextAction(before, command.next_action);",
      "after.next_action = nextAction(before, command.next_action);\n  else if (before?.next_action !== undefined) after.next_action = before.next_action;",
    ],
    [
      "LIFE-33",
      "The ends of a plan stand before it.",
      "events.push(plan, ...judged);",
      "events.push(...judged, plan);",
    ],
    ["LIFE-34 LIFE-02", "What is WITNESSED goes STALE too.", ".filter(({ id }) => !done.has(id));", ";"],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/run-moved", [
    [
      "LIFE-33",
      "STALE ends stand before the row's move.",
      "return [...events, ...staleEnds(left, before, after, now, by)];",
      "return [...staleEnds(left, before, after, now, by), ...events];",
    ],
  ]),
  ...faultsOf("kernel/rows.ts", "unit/kernel/planned-action unit/kernel/run-moved", [
    [
      "LIFE-24",
      "Another order of reflects is the same list.",
      "a.every((id, at) => id === b[at])",
      "a.every((id) => b.includes(id))",
    ],
    ["LIFE-44", "A move of the issue ends nothing.", "a.issue === b.issue && ", ""],
    ["LIFE-44", "A move of the task ends nothing.", "a.task_id === b.task_id && ", ""],
    ["LIFE-44", "A move of the lane ends nothing.", " && a.lane === b.lane", ""],
  ]),
  ...faultsOf("kernel/views.ts", "unit/kernel/status unit/kernel/ack", [
    [
      "LIFE-35",
      "Outcomes list stages that are no ends.",
      "if (view === undefined || isOpen(view.stage)) return;",
      "if (view === undefined) return;",
    ],
    [
      "LIFE-35 ANS-09",
      "Each outcome carries the index of the step.",
      "stageOf(event, first + at);",
      "stageOf(event, first);",
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
  ...faultsOf("kernel/action.ts", "unit/kernel/expiry", [
    [
      "LIFE-01 REF-09",
      "An ack takes an ended correction up again.",
      "if (!isOpen(found.stage)) return stageAnswer(lateAck",
      `if (found.stage === "EXPIRED") return stageAnswer(lateAck`,
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
