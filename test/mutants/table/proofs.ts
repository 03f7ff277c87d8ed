import { faultsOf } from "../mutant.js";

/** Checkpoints and proofs: PROTOCOL.md section 6, clauses 6.69 to 6.82. */
export const PROOFS = [
  ...faultsOf("broker/hello.ts", "integration/hello", [
    [
      "PRV-01",
      "A welcome has no checkpoint.",
      "session.reply({ ...frame, log: parts.notary.checkpoint() });",
      "session.reply(frame);",
    ],
  ]),
  ...faultsOf("protocol/verbs.ts", "integration/proofs", [
    ["PRV-02", "A checkpoint is for auditors.", '  checkpoint: "any",', '  checkpoint: "audit",'],
    ["PRV-02", "A proof is for orchestrators that watch.", '  prove: "any",', '  prove: "watch",'],
  ]),
  ...faultsOf("broker/notary.ts", "integration/proofs", [
    [
      "PRV-03",
      "A checkpoint is signed once for ever.",
      "if (size !== this.#signed.size) {",
      "if (this.#signed.size < 0) {",
    ],
    [
      "PRV-04",
      "The proof of an entry is that of its neighbour.",
      "inclusionProof(this.#tree, index, size)",
      "inclusionProof(this.#tree, index ^ 1, size)",
    ],
    [
      "PRV-05",
      "A log does not prove that it grew from its older size.",
      "consistencyProof(this.#tree, from, size);",
      "consistencyProof(this.#tree, size, size);",
    ],
    ["PRV-05", "A log that begins is proved by hashes.", "return from === 0 ? [] : ", "return from < 0 ? [] : "],
    [
      "PRV-06",
      "An entry behind the end is proved.",
      "(index < size ? inclusionProof",
      "(index <= size ? inclusionProof",
    ],
    ["PRV-06", "The log proves that it grew from a size beyond its own.", "if (from > size) return undefined;", ""],
  ]),
  ...faultsOf("broker/proofs.ts", "integration/proofs", [
    [
      "PRV-04",
      "A proof does not say of which entry it is.",
      "return say({ checkpoint, index, ...encoded",
      "return say({ checkpoint, ...encoded",
    ],
    [
      "PRV-05",
      "A proof does not say from which size it is.",
      "say({ checkpoint, from_size, ...encoded",
      "say({ checkpoint, ...encoded",
    ],
    [
      "PRV-06",
      "Hashes that there are none of are sent empty.",
      "return hashes === undefined ? {} : {",
      "return hashes === undefined ? { hashes: [] } : {",
    ],
    [
      "PRV-07",
      "Everybody may read every entry.",
      "mayRead(parts, session, line) ? { entry: line }",
      "true ? { entry: line }",
    ],
    [
      "PRV-07",
      "Who may audit is not shown another's entry.",
      'if (grantFor(core.state, by, "audit", core.now()) !== undefined) return true;',
      "",
    ],
    [
      "PRV-07",
      "Who moved is not shown its entry.",
      "if (entry.by.role === by.role && entry.by.subject === by.subject) return true;",
      "",
    ],
    ["PRV-07", "Who has the name of another's mover is shown its entry.", "entry.by.role === by.role && ", ""],
    ["PRV-07", "A worker is not shown what names it.", "return entry.worker_id === seat.workerId;", "return false;"],
    [
      "PRV-07",
      "A sender is not shown the end of its correction.",
      'by.role === "orchestrator" && entry.orchestrator_id === by.subject;',
      "entry.by.subject === by.subject;",
    ],
  ]),
  ...faultsOf("http/log.ts", "integration/tiles", [
    [
      "PRV-08",
      "The checkpoint is served somewhere else.",
      'app.get("/checkpoint", (c) => {',
      'app.get("/checkpoint.txt", (c) => {',
    ],
    [
      "PRV-08",
      "A tile is read from one place further.",
      'pathname.indexOf("/tile/") + 1',
      'pathname.indexOf("/tile/") + 2',
    ],
    ["PRV-09", "Everybody may read the log.", "if (isPublic || mayRead", "if (!isPublic || mayRead"],
    ["PRV-09", "Any token may read the log.", "token !== undefined && broker.mayAudit(token)", "token !== undefined"],
  ]),
  ...faultsOf("broker/broker.ts", "integration/tiles", [
    [
      "PRV-09",
      "A token that is granted anything may read the log.",
      'return grant?.verbs.includes("audit") === true;',
      "return grant !== undefined;",
    ],
  ]),
  ...faultsOf("broker/notary.ts", "integration/tiles", [
    [
      "PRV-08",
      "A bundle begins where the first one does.",
      "this.#store.read(index * TILE_WIDTH, width)",
      "this.#store.read(index, width)",
    ],
    [
      "PRV-08",
      "A tile that is not so wide yet is served.",
      "if (!holdsTile(this.#store.size(), tile)) return undefined;",
      "",
    ],
  ]),
  ...faultsOf("broker/keys.ts", "integration/proofs", [
    [
      "PRV-10",
      "A log is taken up with another key of its ids.",
      "if (opened.id_key !== keys.id_key) throw",
      'if (keys.id_key === "") throw',
    ],
    [
      "PRV-10",
      "A log is taken up with another key of its checkpoints.",
      "if (opened.log_key !== keys.log_key) throw",
      'if (keys.log_key === "") throw',
    ],
  ]),
  ...faultsOf("client/log-trail.ts", "unit/client/log-trail", [
    [
      "PRV-11",
      "A later connection need not prove that the log grew.",
      "if (kept !== undefined && kept.size > 0 && shown.size",
      "if (kept !== undefined && kept.size < 0 && shown.size",
    ],
    ["PRV-11", "What was proved is not kept.", "    this.keep(shown);\n    return shown;", "    return shown;"],
    [
      "PRV-11",
      "A lower checkpoint takes the place of a higher one.",
      "if (this.#kept !== undefined && shown.size <= this.#kept.size) return;",
      "",
    ],
    ["PRV-11", "What is kept is not saved.", "this.#saving ??= this.#save(checkpoints);", ""],
    ["PRV-12", "A log that was rolled back is taken.", "if (shown.size < kept.size) {", "if (shown.size < 0) {"],
    [
      "PRV-12",
      "Two histories of one size are taken.",
      "if (shown.size === other?.size && shown.root !== other.root) {",
      'if (shown.root === "") {',
    ],
    [
      "PRV-12",
      "A log that does not prove that it grew is taken.",
      "!requireChecks().isConsistent(older, shown, hashes)",
      'shown.root === ""',
    ],
    [
      "PRV-12",
      "A proof without hashes is taken.",
      "if (hashes === undefined || !requireChecks().isConsistent(older, shown, hashes)) {",
      "if (hashes !== undefined && !requireChecks().isConsistent(older, shown, hashes)) {",
    ],
    ["PRV-12", "A log of another name is taken.", "if (shown.origin !== kept.origin) {", 'if (shown.origin === "") {'],
    [
      "PRV-12",
      "The error carries one checkpoint.",
      "{ ...(kept !== undefined && { kept: kept.note }), shown: shown.note }",
      "{ shown: shown.note }",
    ],
    [
      "PRV-13",
      "A signature is not checked.",
      "if (logKey !== undefined && !requireChecks().isSigned(note, logKey)) {",
      'if (note === "") {',
    ],
  ]),
  ...faultsOf("client/connection.ts", "unit/client/log-trail", [
    [
      "PRV-11",
      "A push does not wait for the proof.",
      "if (this.#held !== undefined) this.#held.pushes.push(push);\n        else if",
      "if",
    ],
    [
      "PRV-11",
      "A connection that must prove asks for a proof from the start.",
      'this.#calls.make({ type: "prove", from_size }',
      'this.#calls.make({ type: "prove", from_size: 0 }',
    ],
  ]),
];
