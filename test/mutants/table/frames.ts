import { faultsOf } from "../mutant.js";

/** Replies, views and the log as it is read: PROTOCOL.md section 6. */
export const FRAMES = [
  ...faultsOf("broker/watchers.ts", "integration/watch integration/fleet", [
    [
      "FRM-20",
      "A snapshot misses what moved while it was gathered.",
      "for (const moved of this.#gathering) moved.add(workerId);",
      "",
    ],
    ["FRM-21", "Watchers are not told of changes.", "      session.push(row);\n", ""],
    [
      "FRM-22",
      "A row that leaves a watch just falls silent.",
      'session.push(new Outgoing({ type: "row", worker_id, gone: true }));',
      "",
    ],
    [
      "FRM-23",
      "A second watch of a session is not heeded.",
      "this.#watches.set(session, watch);",
      "if (!this.#watches.has(session)) this.#watches.set(session, watch);",
    ],
  ]),
  ...faultsOf("broker/roster.ts", "integration/watch integration/log", [
    ["FRM-17", "list starts at after.", "({ id }) => id > after", "({ id }) => id >= after"],
  ]),
  ...faultsOf("broker/reads.ts", "integration/watch integration/log", [
    [
      "FRM-15 FRM-16",
      "get shows a row outside the grant.",
      "return grant !== undefined && coveredRow(worker, grant) !== undefined ? viewOf(sessions, worker) : undefined;",
      "return grant !== undefined ? viewOf(sessions, worker) : undefined;",
    ],
    [
      "FRM-16",
      "get shows no row.",
      "return grant !== undefined && coveredRow(worker, grant) !== undefined ? viewOf(sessions, worker) : undefined;",
      "return grant !== undefined && coveredRow(worker, grant) !== undefined ? undefined : undefined;",
    ],
    [
      "FRM-17",
      "list does not say that there is more.",
      "further !== undefined || page.length > limit ?",
      "page.length < limit ?",
    ],
    [
      "FRM-18",
      "list does not heed its filter.",
      "watchers.visible(session, filter, now, after)",
      "watchers.visible(session, {}, now, after)",
    ],
    ["FRM-06 FRM-29", "A ping is answered ok.", `reply({ type: "pong", id });`, `reply({ type: "ok", id });`],
    ["FRM-24", "unwatch ends no watch.", "      watchers.unwatch(session);\n", ""],
  ]),
  ...faultsOf("broker/followers.ts", "integration/log", [
    [
      "FRM-19",
      "A page of entries may be twice as long.",
      "bytes > LIMITS.page_bytes) break;",
      "bytes > 2 * LIMITS.page_bytes) break;",
    ],
    ["FRM-25", "log skips the entry at after.", "await this.#store.read(after, ", "await this.#store.read(after + 1, "],
    ["FRM-25", "next does not count what was passed over.", "      next += 1;\n", ""],
    ["FRM-26", "Texts are sent to any auditor.", `session.by, "audit.text", `, `session.by, "audit", `],
    [
      "FRM-27",
      "follow pushes nothing.",
      "for (const follow of this.#follows.values()) if (!follow.reading) follow",
      "for (const follow of this.#follows.values()) if (follow.reading) follow",
    ],
    [
      "FRM-27",
      "follow is answered by pushes only.",
      `    session.reply({ type: "entries", id: request.id, ...page });\n`,
      "",
    ],
    [
      "FRM-28",
      "log is not narrowed to a worker.",
      "if (worker_id !== undefined && entry.worker_id !== worker_id) return false;",
      "",
    ],
    [
      "FRM-28",
      "log is not narrowed to a correction.",
      "return correction_id === undefined || entry.correction_id === correction_id;",
      "return true;",
    ],
    ["CUR-06", "follow does not wait for its reader.", "      if (!session.flowing) await session.drained();\n", ""],
  ]),
  ...faultsOf("broker/hello.ts", "integration/hello", [
    [
      "FRM-13",
      "A welcome names the role of the token.",
      "principal: { role: session.role, subject: session.by.subject },",
      "principal: { role: session.role, subject: session.role },",
    ],
  ]),
  ...faultsOf("protocol/reasons.ts", "surface", [
    ["VER-02", "There is one more detail.", `LEASE_HELD: ["SESSION"]`, `LEASE_HELD: ["SESSION", "WORKER"]`],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/liveness", [
    ["VER-03", "A start does not name its text policy.", "text_policy: TEXT_POLICY,", "text_policy: 0,"],
    ["VER-03", "A start names other rules.", "rules: RULES_VERSION,", "rules: RULES_VERSION + 1,"],
  ]),
  ...faultsOf("codec/msgpack.ts", "unit/codec/msgpack property/codecs.property", [
    ["FRM-03 FRM-45", "Frames are written as records.", "useRecords: false,", "useRecords: true as false,"],
  ]),
];
