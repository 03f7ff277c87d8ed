import { faultsOf } from "../mutant.js";

/** Cursors, resumes and slow readers: PROTOCOL.md section 6, clauses 6.59 to 6.64. */
export const RESUME = [
  ...faultsOf("broker/stages.ts", "integration/resume", [
    [
      "CUR-01 CUR-02",
      "A cursor lies before the stage that it comes with.",
      "push.cursor = cursorAt(shard, index + 1);",
      "push.cursor = cursorAt(shard, index);",
    ],
    [
      "CUR-01 CUR-02",
      "A cursor skips an entry.",
      "push.cursor = cursorAt(shard, index + 1);",
      "push.cursor = cursorAt(shard, index + 2);",
    ],
    [
      "CUR-02",
      "A resume tells of other senders' corrections.",
      " || event.orchestrator_id !== session.by.subject) return [];",
      ") return [];",
    ],
    ["CUR-02", "A resume skips its first entry.", "let at = from;", "let at = from + 1;"],
    [
      "CUR-02",
      "A resume ends after a page.",
      "while (!session.closed && at < core.durable) {",
      "if (!session.closed && at < core.durable) {",
    ],
    ["CUR-03", "A resume from another log tells of nothing.", "  await session.feed(first);\n", ""],
    ["LIFE-04", "Live stages overtake a resume.", "if (!session.resuming) session.push(out);", "session.push(out);"],
    ["LIFE-03", "Nothing is pushed after a resume.", "  session.resuming = false;\n", ""],
  ]),
  ...faultsOf("broker/hello.ts", "integration/resume integration/watch integration/hello", [
    [
      "CUR-01",
      "The cursor of a welcome is that of an empty log.",
      "cursor: cursorAt(shard, size),",
      "cursor: cursorAt(shard, 0),",
    ],
    ["CUR-03", "A resume from another log shows no gap.", "gap: from === undefined,", "gap: false,"],
    [
      "CUR-03",
      "A resume from another log tells of no open correction.",
      "from === undefined ? openStages(core, session) : [];",
      "from === 0 ? openStages(core, session) : [];",
    ],
    [
      "CUR-02",
      "A resume sends nothing.",
      "session.resuming = from === undefined || from < size;",
      "session.resuming = from === undefined;",
    ],
    [
      "CUR-04",
      "A resume watches again.",
      "if (session.resuming) session.spawn(",
      "if (session.resuming) parts.watchers.watch(session, request.id, {}, core.now());\n    if (session.resuming) session.spawn(",
    ],
    ["VER-01", "A welcome names another protocol.", "protocol: PROTOCOL,", `protocol: "a2achan/2" as typeof PROTOCOL,`],
    [
      "FRM-14",
      "A welcome says the protocol's limits, not those in force.",
      "limits: { ...limits },",
      "limits: { ...LIMITS },",
    ],
    [
      "FRM-41",
      "A worker's hello may resume.",
      `return request.resume_from === undefined ? undefined : "resume_from";`,
      "return undefined;",
    ],
  ]),
  ...faultsOf("broker/cursors.ts", "unit/broker/cursors", [
    ["CUR-03", "A cursor of another shard is taken.", "cursor.slice(0, at) === shard && size", "size"],
    ["CUR-03", "A cursor beyond the log is taken.", " && size <= logSize ? size", " ? size"],
  ]),
  ...faultsOf("broker/session.ts", "integration/resume integration/watch", [
    [
      "CUR-05",
      "A slow reader is never cut.",
      "if (this.#peer.buffered > most) this.end(",
      "if (this.#peer.buffered < 0) this.end(",
    ],
    ["CUR-05", "A slow reader is cut as a fault.", "this.end(CLOSE.SLOW_CONSUMER);", "this.end(CLOSE.FAULT);"],
    [
      "CUR-05",
      "A session is cut at exactly the limit.",
      "if (this.#peer.buffered > most)",
      "if (this.#peer.buffered >= most)",
    ],
    [
      "CUR-06",
      "Answers count toward the limit of pushes.",
      "if (!this.closed) this.#send(new Outgoing(frame));\n  }\n\n  /** A frame that",
      "if (!this.closed) this.#send(new Outgoing(frame), this.#outgoingBytes);\n  }\n\n  /** A frame that",
    ],
    [
      "CUR-06",
      "A resume does not wait for the socket.",
      "while (!this.closed && !this.flowing) await this.#peer.drained();",
      "",
    ],
  ]),
  ...faultsOf("broker/stages.ts", "integration/answers", [
    ["LIFE-03 LIFE-44", "A stage push does not say its detail.", "if (detail !== undefined) push.detail = detail;", ""],
    [
      "LIFE-03 LIFE-30",
      "A stage push does not say that it is an echo.",
      "if (echo !== undefined) push.echo = echo;",
      "",
    ],
    [
      "FRM-07",
      "A push carries an id.",
      "push.cursor = cursorAt(shard, index + 1);",
      'Object.assign(push, { id: "0" }).cursor = cursorAt(shard, index + 1);',
    ],
  ]),
];
