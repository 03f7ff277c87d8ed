import { faultsOf } from "../mutant.js";

/** Sessions, fencing and leases: PROTOCOL.md section 5. */
export const LIVENESS = [
  ...faultsOf("broker/hello.ts", "integration/liveness integration/sessions integration/hello", [
    [
      "LIVE-01",
      "A lease is always of the default length.",
      "request.lease_ms ?? LIMITS.lease_default_ms",
      "LIMITS.lease_default_ms",
    ],
    [
      "LIVE-06",
      "An inbox is open at first whatever hello says.",
      "inboxOpen: request.inbox ?? true",
      "inboxOpen: true",
    ],
    [
      "LIVE-13",
      "The older session of a worker stays connected.",
      "if (older !== undefined) core.post(() => core.post(() => older.end(CLOSE.FENCED)));",
      "",
    ],
    [
      "LIVE-13",
      "The older session of a worker is closed as drained.",
      "older.end(CLOSE.FENCED)",
      "older.end(CLOSE.DRAINING)",
    ],
  ]),
  ...faultsOf("protocol/requests.ts", "unit/protocol/requests", [
    ["LIVE-01", "A lease may be shorter than 45 s.", ".min(LIMITS.lease_min_ms)", ".min(1)"],
    ["LIVE-01", "A lease may be longer than 15 min.", ".max(LIMITS.lease_max_ms)", ""],
  ]),
  ...faultsOf("kernel/decide.ts", "unit/kernel/liveness", [
    [
      "LIVE-02",
      "A session_opened entry names a lease that nobody asked for.",
      "worker_id, session, lease_ms }],",
      "worker_id, session, lease_ms: 60_000 }],",
    ],
    [
      "LIVE-02",
      "A worker's hello leaves no entry.",
      `events: [{ kind: "session_opened", at: now, by, worker_id, session, lease_ms }],`,
      "events: [],",
    ],
  ]),
  ...faultsOf("kernel/holder.ts", "unit/kernel/delivery unit/kernel/liveness", [
    [
      "REF-02",
      "A fenced session goes on.",
      "current === command.session ? undefined",
      "current !== undefined ? undefined",
    ],
    [
      "LIVE-11",
      "Nothing is received while the row is not live.",
      "if (refusal !== undefined) return no(refusal);",
      `if (refusal !== undefined || state.workers.get(worker_id)?.row?.live !== true) return no(refusal ?? { reason: "UNWITNESSED", detail: "NOT_LIVE" });`,
    ],
    ["REF-06", "A worker receives another worker's correction.", " || correction.worker.id !== worker_id) {", ") {"],
  ]),
  ...faultsOf("kernel/holder.ts", "unit/kernel/ack unit/kernel/decline-withdraw", [
    [
      "REF-07",
      "An ack may cite any digest.",
      " && command.status_digest !== correction.content.status_digest) {",
      ` && command.status_digest === "") {`,
    ],
  ]),
  ...faultsOf("broker/connection.ts", "integration/liveness integration/sessions", [
    [
      "LIVE-04",
      "Watchers are not told that a worker is suspect.",
      "if (current && core.running) touch(",
      "if (current && !core.running) touch(",
    ],
  ]),
  ...faultsOf("transport/pings.ts", "integration/liveness", [
    [
      "FRM-40",
      "A connection that answers no ping is kept.",
      "if (pinged.missed >= this.#limits.missed_pings) return ws.terminate();",
      "",
    ],
  ]),
  ...faultsOf("transport/ws-server.ts", "integration/liveness", [
    ["LIVE-03", "Pongs renew no lease.", "      connection.alive();\n", ""],
  ]),
  ...faultsOf("broker/views.ts", "integration/liveness", [
    ["LIVE-04", "A worker whose connection is lost looks live.", `connected ? "live" : "suspect"`, `"live"`],
    ["LIVE-07", "A worker whose lease lapsed looks ended.", `ended ? "ended" : "dead"`, `"ended"`],
    ["LIVE-18", "A worker that said bye looks dead.", `ended ? "ended" : "dead"`, `"dead"`],
    [
      "LIVE-06",
      "An inbox looks open as long as there is a session.",
      `session?.seat?.inboxOpen === true ? "open"`,
      `session !== undefined ? "open"`,
    ],
  ]),
  ...faultsOf("broker/requests.ts", "integration/liveness integration/resume", [
    [
      "LIVE-05 ADM-30",
      "A suspect worker counts as reachable.",
      "?.seat?.inboxOpen === true,",
      "?.seat?.inboxOpen !== false,",
    ],
    ["LIVE-06 ADM-30", "A closed inbox counts as reachable.", "?.seat?.inboxOpen === true,", "!== undefined,"],
    [
      "LIVE-17",
      "A bye leaves the connection open.",
      `if (request.type === "bye" && frame.type === "ok") session.end(CLOSE.DONE);`,
      "",
    ],
  ]),
  ...faultsOf("broker/reads.ts", "integration/liveness", [
    ["LIVE-06 LIFE-08", "An inbox that opens gets nothing of what waits.", "touch(parts, seat.workerId, now);", ""],
    ["LIVE-06", "An inbox never closes.", "seat.inboxOpen = open;", "seat.inboxOpen ||= open;"],
  ]),
  ...faultsOf("broker/leases.ts", "unit/broker/leases", [
    ["LIVE-03", "A renewal is forgotten.", "lease.renewedAt = this.#clock.monotonic();", ""],
    ["LIVE-07", "A lease never lapses.", "this.#lapsed(workerId);", ""],
    [
      "LIVE-07",
      "A dropped lease lapses.",
      "  drop(workerId: string): void {\n    this.#forget(workerId);",
      "  drop(_workerId: string): void {",
    ],
    [
      "LIVE-16",
      "A lease is looked at by the wall clock.",
      "    const now = this.#clock.monotonic();\n    // Signs",
      "    const now = this.#clock.now();\n    // Signs",
    ],
    ["LIVE-16", "A lease begins by the wall clock.", "renewedAt: now, dueAt", "renewedAt: this.#clock.now(), dueAt"],
  ]),
  ...faultsOf("broker/effects.ts", "integration/liveness integration/sessions", [
    [
      "LIVE-07",
      "No lease is held for a row.",
      `event.kind === "session_opened" || !leases.renew(event.worker_id))`,
      `event.worker_id === "")`,
    ],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/liveness", [
    [
      "LIVE-07",
      "A lapse leaves the row live.",
      "before.seq + 1 };\n  const ends",
      'before.seq + 1, ...{ live: cause === "lease_lapsed" } };\n  const ends',
    ],
    [
      "LIVE-08",
      "A lapse ends what is open.",
      "const ends = staleEnds(worker.open.values(), before, after, now, BROKER);",
      `const ends = [...worker.open.values()].map((one) => ended(one, "orphaned", now, BROKER));`,
    ],
    [
      "LIVE-09",
      "Rows stay live over a restart.",
      `for (const worker of state.workers.values()) events.push(...notLive(worker, "restart", now));`,
      "",
    ],
    ["LIVE-18", "The outcome of a bye is not kept.", "outcome === undefined ? {} : { outcome }", "{}"],
    [
      "LIVE-18",
      "A bye moves a row that was not live.",
      "row.live ? { ...row, live: false, seq: row.seq + 1 } : row;",
      "{ ...row, live: false, seq: row.seq + 1 };",
    ],
    ["LIVE-18", "A row stays live after a bye.", "row.live ? { ...row, live: false, seq: row.seq + 1 } : row;", "row;"],
    [
      "LIVE-19",
      "A second bye leaves an entry.",
      "|| row === undefined || worker.ended) return DONE;",
      "|| row === undefined) return DONE;",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/liveness integration/liveness", [
    [
      "LIVE-10",
      "A hello makes the row live.",
      "worker.session = event.session;",
      "worker.session = event.session;\n      if (worker.row !== undefined) worker.row = { ...worker.row, live: true };",
    ],
    ["LIVE-17 REF-02", "A session goes on after its bye.", `if (event.cause === "ended") delete worker.session;`, ""],
    [
      "LIVE-09",
      "A session of before a restart is still current.",
      "for (const worker of state.workers.values()) delete worker.session;",
      "",
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/ack", [
    [
      "LIVE-12",
      "An ack plans while the row is not live.",
      `if (next_action !== undefined && !before.live) return no(`,
      `if (next_action === null) return no(`,
    ],
    [
      "LIVE-12",
      "An ack that restates passes while the row is not live.",
      "if (next_action !== undefined && !before.live)",
      "if (next_action !== undefined && differs(before, next_action) && !before.live)",
    ],
    [
      "LIVE-11",
      "An ack without a plan is refused while the row is not live.",
      "if (next_action !== undefined && !before.live)",
      "if (!before.live)",
    ],
    [
      "REF-12",
      "An ack plans outside of the worker's grant.",
      "if (next_action !== undefined && !mayPublish(state, command, before)) {",
      "if (next_action === null) {",
    ],
    [
      "REF-05",
      "An ack is never refused for the rate of its plans.",
      "if (plans && overDigestRate(state, worker, now))",
      "if (plans && worker === undefined)",
    ],
  ]),
  ...faultsOf("broker/sessions.ts", "integration/sessions", [
    [
      "LIVE-14",
      "The older session takes the newer one's place with it.",
      "if (seat !== undefined && this.#workers.get(seat.workerId) === session) this",
      "if (seat !== undefined) this",
    ],
  ]),
  ...faultsOf("broker/clock.ts", "unit/broker/clock", [
    ["LIVE-15", "Log time is the wall clock.", "Math.max(this.#last + passed, wall);", "wall;"],
    [
      "LIVE-15",
      "Log time does not follow the wall clock.",
      "Math.max(this.#last + passed, wall);",
      "this.#last + passed;",
    ],
  ]),
  ...faultsOf("kernel/decide.ts", "unit/kernel/delivery", [
    [
      "REF-02",
      "A fenced session may read.",
      "refuseVerb(state, by, request, now) ?? refuseFenced(state, command);\n  if",
      "refuseVerb(state, by, request, now);\n  if",
    ],
    [
      "REF-02",
      "A malformed request of a fenced session is told so.",
      "?? refuseFenced(state, command) ?? refusal;",
      "?? refusal;",
    ],
  ]),
  ...faultsOf("broker/connection.ts", "integration/leases", [
    ["LIVE-03", "Frames renew no lease.", "    this.alive();\n", ""],
    [
      "LIVE-03",
      "A fenced session renews the lease.",
      " || this.#parts.sessions.worker(seat.workerId) !== this.#session) return;",
      ") return;",
    ],
  ]),
  ...faultsOf("broker/effects.ts", "integration/leases", [
    [
      "LIVE-01",
      "A new session keeps the old one's lease.",
      `event.kind === "session_opened" || !leases.renew`,
      "!leases.renew",
    ],
  ]),
  {
    fault: "A broker that stood still ends the leases that ran out meanwhile.",
    requirements: ["A2C-LIVE-20"],
    file: "src/broker/leases.ts",
    find: "const grace = stoodStill ? now + LIMITS.ping_ms : 0;",
    replace: "const grace = 0;",
    caughtBy: ["test/unit/broker/leases.test.ts"],
  },
];
