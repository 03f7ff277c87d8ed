import { faultsOf } from "../mutant.js";

/** The checks of admission: PROTOCOL.md section 3. */
export const ADMISSION = [
  ...faultsOf("kernel/admission.ts", "unit/kernel/admission", [
    [
      "ADM-00",
      "A revoked token is told NO_GRANT.",
      "if (verb !== undefined) return no(verb);",
      `if (verb?.detail === "NO_GRANT") return no(verb);`,
    ],
    [
      "ADM-02",
      "A grant for correct covers every scope named.",
      "if (grant === undefined || !covers(grant.patterns, content)) {",
      "if (grant === undefined) {",
    ],
    [
      "ADM-14",
      "An orchestrator_id may be anybody's.",
      "if (content.orchestrator_id !== undefined && content.orchestrator_id !== by.subject) {",
      `if (content.orchestrator_id === "") {`,
    ],
    [
      "ADM-03",
      "A message of exactly max_bytes is too long.",
      "if (message.bytes > maxBytes)",
      "if (message.bytes >= maxBytes)",
    ],
    [
      "ADM-03",
      "OVERSIZE names the protocol's limit where the request's applied.",
      "bytes: message.bytes, max_bytes: maxBytes }",
      "bytes: message.bytes, max_bytes: state.limits.message_bytes }",
    ],
    [
      "ADM-34",
      "max_bytes widens the limit.",
      "Math.min(content.max_bytes ?? Infinity, state.limits.message_bytes)",
      "content.max_bytes ?? state.limits.message_bytes",
    ],
    ["ADM-05", "A worker without a row is told NOT_LIVE.", `detail: "NO_ROW" }`, `detail: "NOT_LIVE" }`],
    [
      "ADM-15",
      "A row outside the grant shows by its refusal.",
      "const row = coveredRow(worker, grant);",
      "const row = worker?.row;",
    ],
    [
      "ADM-05 ADM-16",
      "A correction for a row that is not live is admitted.",
      "if (!row.live) return no(",
      "if (!row.live && worker.ended) return no(",
    ],
    [
      "ADM-05 ADM-17",
      "A correction for an ended row is admitted.",
      "if (!row.live) return no(",
      "if (!row.live && !worker.ended) return no(",
    ],
    ["ADM-17", "An ended row is told NOT_LIVE.", `worker.ended ? "ENDED" : "NOT_LIVE"`, `"NOT_LIVE"`],
    [
      "ADM-06 ADM-33",
      "A stale citation is admitted.",
      "if (content.status_digest !== worker.digest) {",
      "if (content.status_digest === undefined) {",
    ],
    [
      "ADM-06",
      "A correction that cites nothing is admitted.",
      "if (content.status_digest !== worker.digest) {",
      "if (content.status_digest !== undefined && content.status_digest !== worker.digest) {",
    ],
    ["ADM-07", "A correction of another issue is admitted.", "content.issue !== row.issue || ", ""],
    ["ADM-07", "A correction of another task is admitted.", "content.task_id !== row.task_id || ", ""],
    [
      "ADM-07",
      "A correction without a task is admitted for a row with one.",
      "content.task_id !== row.task_id || ",
      "(content.task_id !== undefined && content.task_id !== row.task_id) || ",
    ],
    ["ADM-07", "A correction of another lane is admitted.", " || content.lane !== row.lane) {", ") {"],
    [
      "ADM-07 ID-04",
      "Lanes are compared without regard to case.",
      "content.lane !== row.lane) {",
      "content.lane.toLowerCase() !== row.lane.toLowerCase()) {",
    ],

    [
      "ADM-09",
      "A correction is admitted without room.",
      "if (full !== undefined) return no(full);",
      "if (full === null) return no(full);",
    ],
    [
      "ADM-22",
      "A correction has the room of a halt.",
      `content.priority === "halt" ? open_per_worker_halt : open_per_worker;`,
      "open_per_worker_halt;",
    ],
    ["ADM-22", "A worker may have one open correction too many.", ">= room)", "> room)"],

    ["ADM-31", "ttl_ms is not heeded.", "content.ttl_ms ?? state.limits.ttl_default_ms", "state.limits.ttl_default_ms"],
    [
      "ADM-30",
      "The log says deliverable of every admission.",
      "    deliverable: command.reachable,\n  };",
      "    deliverable: true,\n  };",
    ],
    [
      "ADM-30 LIVE-05",
      "Every ALLOW says deliverable.",
      "replayed: false, deliverable: command.reachable }",
      "replayed: false, deliverable: true }",
    ],
  ]),
  ...faultsOf("kernel/admission.ts", "unit/kernel/admission-order", [
    [
      "ADM-11",
      "A wrong scope is told before a stale digest.",
      "if (content.status_digest !== worker.digest) {",
      "if (content.status_digest !== worker.digest && content.issue === row.issue && content.lane === row.lane) {",
    ],
    [
      "ADM-11",
      "OVERSIZE is told before the grant is looked at.",
      "if (grant === undefined || !covers(grant.patterns, content)) {",
      "if (grant === undefined || (message.bytes <= 1024 && !covers(grant.patterns, content))) {",
    ],
    [
      "ADM-11",
      "The principal is told before the grant.",
      "if (grant === undefined || !covers(grant.patterns, content)) {",
      "if (grant === undefined || ((content.orchestrator_id ?? by.subject) === by.subject && !covers(grant.patterns, content))) {",
    ],
    [
      "ADM-09 ADM-11",
      "RATE is told before INBOX_FULL.",
      ">= room)",
      ">= room && !overRate(state.senders.get(by.subject)?.admittedTimes ?? [], admitted_per_window, rate_window_ms, now))",
    ],
    [
      "ADM-19",
      "A DIGEST refusal shows the row to who may not watch.",
      `const watches = grantFor(state, by, "watch", now) !== undefined;`,
      "const watches = true;",
    ],
    [
      "ADM-19",
      "A DIGEST refusal shows the row to nobody.",
      `const watches = grantFor(state, by, "watch", now) !== undefined;`,
      "const watches = false;",
    ],
    [
      "ADM-20",
      "A refusal carries the current digest.",
      "watches ? wireRow(row) : undefined",
      "watches ? Object.assign({ status_digest: worker.digest }, wireRow(row)) : undefined",
    ],
  ]),
  ...faultsOf("kernel/admission.ts", "unit/kernel/replay", [
    [
      "ADM-04 ADM-29",
      "A correction that has ended is admitted again.",
      "if (before !== undefined) {",
      "if (before !== undefined && isOpen(before.stage)) {",
    ],
    [
      "ADM-29",
      "A replay leaves an entry.",
      "return { events: [], answer: {",
      `return { events: [{ kind: "broker_stopped", at: now, by }], answer: {`,
    ],
    ["ADM-30", "The replay of an ended correction says deliverable.", "isOpen(before.stage) && worker", "worker"],
    ["ADM-30", "A replay says deliverable of a row that is not live.", " && worker?.row?.live === true;", ";"],
    [
      "ADM-26",
      "Only open corrections count as citing a digest.",
      "const many = (worker.citing.get(by.subject)?.length ?? 0) >= citing_per_digest;",
      "const many = worker.open.size >= citing_per_digest;",
    ],
  ]),
  ...faultsOf("kernel/admission.ts", "unit/kernel/supersedes", [
    [
      "ADM-21 LIFE-02",
      "A correction that has ended is superseded.",
      "if (!isOpen(old.stage)) return no(",
      "if (old.stage === undefined) return no(",
    ],
    ["LIFE-51", "The superseded correction stays open.", "events: [admitted, ...replaced],", "events: [admitted],"],
    [
      "LIFE-51",
      "The superseded correction ends before the new one is admitted.",
      "events: [admitted, ...replaced],",
      "events: [...replaced, admitted],",
    ],
    [
      "ADM-08",
      "A correction supersedes another sender's.",
      "old !== undefined && old.sender.subject === by.subject && old.worker",
      "old !== undefined && old.worker",
    ],
    ["ADM-08", "A correction supersedes one for another worker.", " && old.worker === worker;", ";"],
  ]),
  ...faultsOf("kernel/admission.ts", "unit/kernel/room", [
    [
      "ADM-23",
      "A halt has the room of any correction.",
      `content.priority === "halt" ? open_per_worker_halt : open_per_worker;`,
      "open_per_worker;",
    ],
    ["ADM-24", "The superseded correction takes up room.", " - (old === undefined ? 0 : 1) >= room", " >= room"],
    [
      "ADM-25",
      "An admission exactly 1,000 ms ago still counts.",
      "now - oldest < windowMs",
      "now - oldest <= windowMs",
    ],
    ["ADM-25", "20 admissions are looked at as 19.", "times[times.length - most]", "times[times.length - most + 1]"],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/replay unit/kernel/admission", [
    [
      "ADM-32",
      "One ended correction of a principal too few is kept.",
      "sender.ended.length > state.limits.ended_per_principal",
      "sender.ended.length >= state.limits.ended_per_principal",
    ],
    [
      "ADM-32",
      "Ended corrections are forgotten as soon as the digest moves.",
      "if (!isOpen(stage) && !citing && !recent)",
      "if (!isOpen(stage) && !citing)",
    ],
    [
      "ADM-32",
      "The oldest ended correction is forgotten though its digest is current.",
      "if (!isOpen(stage) && !citing && !recent) state",
      "if (!isOpen(stage) && !recent) state",
    ],
    [
      "ADM-32",
      "An open correction is forgotten when its digest moves.",
      "if (!isOpen(stage) && !citing && !recent) state.corrections",
      "if (!citing && !recent) state.corrections",
    ],
    [
      "ADM-17",
      "A row that was ended once is ended for ever.",
      `worker.ended = event.cause === "ended";`,
      `worker.ended ||= event.cause === "ended";`,
    ],
    [
      "ADM-25",
      "Admissions are not counted.",
      "remember(sender.admittedTimes, event.at, state.limits.admitted_per_window);",
      "",
    ],
  ]),
  ...faultsOf("kernel/decide.ts", "unit/kernel/admission-order unit/kernel/grants", [
    [
      "ADM-01 ADM-11",
      "A malformed correct is told so before its grant is looked at.",
      "refuseVerb(state, by, request, now) ?? refuseFenced(state, command) ?? refusal;",
      "refusal ?? refuseVerb(state, by, request, now) ?? refuseFenced(state, command);",
    ],
  ]),
  ...faultsOf("kernel/decide.ts", "integration/races", [
    [
      "ADM-12",
      "A decision takes effect after the step.",
      "decision.events.forEach(record);",
      "queueMicrotask(() => decision.events.forEach(record));",
    ],
  ]),
];
