import { faultsOf } from "../mutant.js";

/** Ack and planned action: PROTOCOL.md section 4, clauses 4.23 to 4.39. */
export const PLANS = [
  ...faultsOf("kernel/evolve.ts", "unit/kernel/expiry", [
    ["LIFE-43", "Each late ack leaves an entry.", "correction.lateAck = true;", ""],
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
    [
      "LIFE-01 REF-09",
      "An ack takes an ended correction up again.",
      "if (!isOpen(found.stage)) return stageAnswer(lateAck",
      `if (found.stage === "EXPIRED") return stageAnswer(lateAck`,
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
];
