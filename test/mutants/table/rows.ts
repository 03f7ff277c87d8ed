import { faultsOf } from "../mutant.js";

/** The row, its digest, and ids: PROTOCOL.md section 2. */
export const ROWS = [
  ...faultsOf("kernel/rows.ts", "unit/kernel/status", [
    [
      "ROW-10 LIVE-10",
      "A status with the same content leaves a row not live.",
      " || a.live !== b.live) return false;",
      ") return false;",
    ],
    [
      "ROW-09",
      "A status that only moves last_action is the same.",
      "if (!sameText(a.last_action, b.last_action)) return false;",
      "",
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/status unit/kernel/admission", [
    [
      "ROW-03",
      "reflects are put in order.",
      "reflects: next.reflects ?? [] };",
      "reflects: [...(next.reflects ?? [])].sort() };",
    ],
    [
      "ROW-06",
      "A first row has seq 2.",
      "live: true, seq: before?.seq ?? 0 };",
      "live: true, seq: before?.seq ?? 1 };",
    ],
    [
      "ROW-07",
      "A worker's change raises seq by 2.",
      "{ ...after, seq: after.seq + 1 }",
      "{ ...after, seq: after.seq + 2 }",
    ],

    [
      "ROW-09",
      "A status with the same content changes the row.",
      "const same = before !== undefined && sameContent(before, after);",
      "const same = before === after;",
    ],
    [
      "REF-03",
      "A worker publishes outside of its grant.",
      "if (worker === undefined || !mayPublish(state, command, { worker_id, issue, lane })) {",
      "if (worker === undefined) {",
    ],
    [
      "REF-04",
      "expect_seq is not heeded.",
      "command.expect_seq !== undefined && command.expect_seq !== (before?.seq ?? 0)",
      "command.expect_seq === -1",
    ],
    [
      "REF-04",
      "expect_seq 0 is met by any row.",
      "command.expect_seq !== (before?.seq ?? 0)",
      "command.expect_seq !== 0 && command.expect_seq !== (before?.seq ?? 0)",
    ],
    [
      "REF-05",
      "A status is never refused for its rate.",
      `if (overDigestRate(state, worker, now)) return no({ reason: "RATE_LIMITED", detail: "RATE" });\n  return {`,
      "return {",
    ],
    [
      "REF-05",
      "A status that changes nothing is refused for its rate.",
      "  if (same) return {",
      "  if (same && !overDigestRate(state, worker, now)) return {",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/status", [
    [
      "REF-05",
      "The broker's own changes count toward a worker's rate.",
      `if (event.cause === "published") remember(`,
      "remember(",
    ],
  ]),
  ...faultsOf("kernel/broker-moves.ts", "unit/kernel/liveness", [
    [
      "ROW-07 ROW-08",
      "A row goes not live under the same seq.",
      "const after = { ...before, live: false, seq: before.seq + 1 };",
      "const after = { ...before, live: false };",
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/liveness", [
    [
      "ROW-05",
      "A new session makes the row another one.",
      "worker.leaseMs = event.lease_ms;",
      "worker.leaseMs = event.lease_ms;\n      if (worker.row !== undefined) worker.row = { ...worker.row, seq: worker.row.seq + 1 };",
    ],
  ]),
  ...faultsOf("protocol/digest.ts", "unit/protocol/digest", [
    ["ROW-04", "The digest does not tell a live row from another.", `\${row.live ? "true" : "false"}`, "true"],
    ["ROW-04", "The digest does not depend on seq.", `,"seq":\${row.seq}`, `,"seq":1`],
    [
      "ROW-04",
      "The keys under the digest are not in order.",
      `{"issue":\${JSON.stringify(row.issue)},"lane":\${JSON.stringify(row.lane)}`,
      `{"lane":\${JSON.stringify(row.lane)},"issue":\${JSON.stringify(row.issue)}`,
    ],
    ["ROW-04 ROW-03", "The digest does not depend on reflects.", `"reflects":[\${reflects}]`, `"reflects":[]`],
  ]),
  ...faultsOf("protocol/hash.ts", "unit/protocol/hash unit/protocol/digest", [
    [
      "ROW-04",
      "The digest is in upper case.",
      `return hash("sha256", data, "hex");`,
      `return hash("sha256", data, "hex").toUpperCase();`,
    ],
  ]),
  ...faultsOf("protocol/status.ts", "unit/protocol/digest", [
    [
      "ROW-01",
      "A row may have fields of any name.",
      "export const workerStatus = z.strictObject({",
      "export const workerStatus = z.looseObject({",
    ],
  ]),
  ...faultsOf("protocol/requests.ts", "unit/protocol/requests", [
    ["ROW-11", "reflects may name an id twice.", "new Set(ids).size === ids.length", "new Set(ids).size <= ids.length"],
    ["ROW-11", "reflects may name 10 ids.", ".max(LIMITS.reflects)", ".max(LIMITS.reflects + 1)"],
    ["ID-05", "reflects may name anything.", ".array(correctionIdField)\n", ".array(z.string())\n"],
  ]),
  ...faultsOf("protocol/valid-requests.ts", "unit/protocol/requests property/valid-requests.property", [
    [
      "ROW-11",
      "reflects of an ack may name an id twice.",
      "value.every(isCorrection) && new Set(value).size === value.length;",
      "value.every(isCorrection);",
    ],
    [
      "ROW-11",
      "reflects of an ack may name 10 ids.",
      "value.length > LIMITS.reflects)",
      "value.length > LIMITS.reflects + 1)",
    ],
    ["ID-05", "reflects of an ack may name anything.", "value.every(isCorrection) && ", ""],
  ]),
  ...faultsOf("protocol/ids.ts", "unit/protocol/ids", [
    [
      "ID-01",
      "An id may hold a backtick.",
      "const CHARS = /^[!#-;=?-[\\]-_a-~]+$/;",
      "const CHARS = /^[!#-;=?-[\\]-~]+$/;",
    ],
    ["ID-01", "An id has at most 127 characters.", "value.length <= LIMITS.id_chars", "value.length < LIMITS.id_chars"],
    ["ID-01", "An id may be of any length.", "value.length <= LIMITS.id_chars &&", ""],
    ["ID-02", "An id may hold two dots.", `!value.includes("..") &&`, ""],
    ["ID-02", "An id may hold two slashes.", `&&\n    !value.includes("//")`, ""],
    ["ID-05", "A correction id may be in upper case.", "/^corr_[0-9a-f]{32}$/", "/^corr_[0-9a-f]{32}$/i"],
    ["ID-05", "A correction id may go on behind its digits.", "/^corr_[0-9a-f]{32}$/", "/^corr_[0-9a-f]{32}/"],
    ["ID-06 ID-07", "encodeId leaves a percent sign as it is.", `char !== "%" && CHARS`, "CHARS"],
    [
      "ID-06",
      "encodeId encodes characters that it need not.",
      `const plain = char !== "%" &&`,
      `const plain = char !== "%" && char !== "#" &&`,
    ],
    ["ID-07", "decodeId decodes what encodeId never makes.", "encodeId(text) === id ? text : id", "text"],
  ]),
  ...faultsOf("protocol/fields.ts", "unit/protocol/requests", [
    [
      "ID-03",
      "An id may be a number.",
      "export const idField = checked(z.string(),",
      "export const idField = checked(z.coerce.string() as unknown as z.ZodString,",
    ],
  ]),
  ...faultsOf("kernel/rows.ts", "integration/answers", [
    ["ROW-01", "A row says nothing of its task.", "if (row.task_id !== undefined) out.task_id = row.task_id;", ""],
    [
      "ROW-02",
      "A row without a task has an empty one.",
      "if (row.task_id !== undefined) out.task_id = row.task_id;",
      `out.task_id = row.task_id ?? "";`,
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/liveness", [
    [
      "ROW-08 ADM-33",
      "A new run begins at seq 1 again.",
      "live: true, seq: before?.seq ?? 0 };",
      "live: true, seq: worker.ended ? 0 : (before?.seq ?? 0) };",
    ],
  ]),
];
