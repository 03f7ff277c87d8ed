import { faultsOf } from "../mutant.js";

/** What is asked for, its id, and what a receipt says: PROTOCOL.md section 3. */
export const RECEIPTS = [
  ...faultsOf("kernel/refuse.ts", "integration/answers", [
    [
      "ADM-35",
      "A DENY does not name the correction.",
      "...(kept.correction_id !== undefined && { correctionId: kept.correction_id }),",
      "",
    ],
  ]),
  ...faultsOf("broker/wording.ts", "integration/refusals integration/log", [
    [
      "ADM-35",
      "A DENY names the entry behind its own.",
      "{ index: first + events.length - 1 }",
      "{ index: first + events.length }",
    ],

    [
      "ADM-35 LIM-04",
      "A folded DENY carries an index.",
      "(folded ? { folded } : { index",
      "(folded ? { folded, index: first } : { index",
    ],
    [
      "ADM-13",
      "A refused correct is answered by a refusal.",
      `asked.type === "correct" ? denied`,
      `asked.type === "" ? denied`,
    ],
    [
      "ADM-40",
      "A DENY does not say the bytes of the message.",
      "...(message !== undefined && { bytes: message.bytes }),",
      "",
    ],
  ]),
  ...faultsOf("broker/wording.ts", "integration/answers", [
    [
      "ADM-04",
      "A replay carries the index of the stage of now.",
      "index: correction.index,",
      "index: correction.stageIndex,",
    ],
    [
      "ADM-04",
      "A replay says ADMITTED whatever became of it.",
      "stage: correction.stage,\n    index",
      `stage: "ADMITTED",\n    index`,
    ],
    ["ADM-10", "An admission is worded as a DENY.", `verdict: "ALLOW",`, `verdict: "DENY",`],
    ["ADM-40", "An ALLOW does not say the bytes of the message.", "    bytes: correction.content.message.bytes,\n", ""],
    [
      "ADM-31",
      "A receipt says the end of the window that runs now.",
      "expires_at: correction.expiresAt,",
      "expires_at: correction.dueAt,",
    ],
    ["ADM-35", "A DENY names what fell due before it.", "{ index: first + events.length - 1 }", "{ index: first }"],
  ]),
  ...faultsOf("protocol/correction.ts", "unit/protocol/correction unit/protocol/requests", [
    [
      "ADM-27",
      "Two principals' corrections have one id.",
      `"orchestrator_id":\${JSON.stringify(principal)}`,
      `"orchestrator_id":\${JSON.stringify(content.orchestrator_id ?? "")}`,
    ],
    [
      "ADM-27",
      "A new key makes no new correction.",
      'if (content.key !== undefined) out += `,"key":${JSON.stringify(content.key)}`;',
      "",
    ],
    ["ADM-27", "A correction id is one digit short.", ".slice(0, 32)", ".slice(0, 31)"],
    [
      "ADM-28",
      "The default of ttl_ms is filled in before the id is made.",
      'if (content.ttl_ms !== undefined) out += `,"ttl_ms":${content.ttl_ms}`;',
      'out += `,"ttl_ms":${content.ttl_ms ?? LIMITS.ttl_default_ms}`;',
    ],
    ["ADM-01", "ttl_ms has no ceiling.", "lifetimeInteger.max(LIMITS.ttl_ceiling_ms)", "lifetimeInteger"],
    ["ADM-01", "A priority may be any text.", `z.enum(["normal", "halt"])`, "z.string()"],
  ]),
  ...faultsOf("protocol/valid-requests.ts", "unit/protocol/requests", [
    ["ADM-01", "ttl_ms may be 0.", "isInteger(ttl_ms, 1, ", "isInteger(ttl_ms, 0, "],
    ["ADM-01", "A key may be of any characters.", "const KEY = /^[A-Za-z0-9._:-]{1,64}$/;", "const KEY = /^.{1,64}$/;"],
    [
      "ADM-18",
      "A status_digest of 129 bytes passes.",
      "utf8Bytes(value) <= LIMITS.digest_bytes;",
      "utf8Bytes(value) <= LIMITS.digest_bytes + 1;",
    ],
  ]),
  ...faultsOf("protocol/fields.ts", "unit/protocol/requests", [
    [
      "ADM-18",
      "A status_digest of another form is a bad frame.",
      "utf8Bytes(value) > LIMITS.digest_bytes ?",
      "!/^sha256:[0-9a-f]{64}$/.test(value) ?",
    ],
  ]),
  ...faultsOf("protocol/parse.ts", "unit/protocol/requests", [
    [
      "ADM-36",
      "A text that is too long wins over a MALFORMED field behind it.",
      `refusals.find(({ reason }) => reason === "MALFORMED") ?? refusals[0];`,
      "refusals[0];",
    ],
  ]),
];
