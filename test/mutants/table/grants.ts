import { faultsOf } from "../mutant.js";

/** Tokens and grants: PROTOCOL.md section 8. */
export const GRANTS = [
  ...faultsOf("broker/hello.ts", "integration/hello", [
    [
      "AUTH-01",
      "The token of a hello is not read.",
      "request.token === undefined ? proven : identify(parts.hashes, request.token);",
      "proven;",
    ],
    [
      "AUTH-01",
      "The token of the upgrade is not heeded.",
      "request.token === undefined ? proven : identify(parts.hashes, request.token);",
      "request.token === undefined ? undefined : identify(parts.hashes, request.token);",
    ],
    ["AUTH-04 AUTH-08", "A revoked or expired token says hello.", "|| torn || !isValid(grant, now))", "|| torn)"],
    [
      "AUTH-13",
      "A hello may show another token than the upgrade.",
      "const torn = proven !== undefined && token !== proven;",
      "const torn = proven !== undefined && token === undefined;",
    ],
    ["LIM-10", "A role that the token lacks leaves no trace.", "recordRefusal(parts, grant, request);", ""],
    [
      "LIM-10",
      "A refused hello is said to be by the role that it asked for.",
      "const by = { role: grant.role, subject",
      "const by = { role, subject",
    ],
    [
      "LIM-10",
      "A refused hello is not counted past the bucket.",
      `if (answer.kind === "refused" && answer.folded) folds.count(by, answer.refusal.reason, now);`,
      "void folds; void answer; void now;",
    ],
    [
      "LIM-05",
      "A failed authentication leaves an entry.",
      "!isValid(grant, now))\n    return { close: CLOSE.UNAUTHENTICATED };",
      `!isValid(grant, now))\n    return (core.execute({ kind: "stop" }), { close: CLOSE.UNAUTHENTICATED });`,
    ],
  ]),
  ...faultsOf("kernel/authority.ts", "integration/hello", [
    [
      "AUTH-08",
      "A token says hello at the time of its expiry.",
      "|| now < grant.expires_at);",
      "|| now <= grant.expires_at);",
    ],
    [
      "AUTH-11",
      "An operator's token takes the role of a worker.",
      `grant.role === "operator" ? role !== "worker" : grant.role === role;`,
      `grant.role === "operator" || grant.role === role;`,
    ],
    ["FRM-12", "A token takes any role.", "return takes && (role", "return (role"],
    [
      "FRM-12",
      "A worker's token speaks for any worker.",
      ` && (role !== "worker" || worker_id === grant.subject);`,
      ";",
    ],
  ]),
  ...faultsOf("kernel/authority.ts", "unit/kernel/refusals", [
    ["LIM-10", "A hello is refused to whoever the log says, in any role.", "grant.role !== by.role || ", ""],
  ]),
  ...faultsOf("kernel/replayed-command.ts", "integration/hello", [
    [
      "LIM-10",
      "A refused hello is not decided again as one.",
      `if (verb === "hello" && event.role !== undefined) {`,
      "if (event.role === undefined && event.role !== undefined) {",
    ],
  ]),
  ...faultsOf("broker/tokens.ts", "unit/broker/tokens", [
    [
      "AUTH-04",
      "The id of a token is enough.",
      "kept.length === shown.length && timingSafeEqual(kept, shown) ? id : undefined;",
      "kept.length === shown.length ? id : undefined;",
    ],
  ]),
  ...faultsOf("transport/handshake.ts", "integration/hello integration/http", [
    [
      "AUTH-02",
      "A token is read from a cookie.",
      `headers.get("authorization");`,
      `headers.get("authorization") ?? headers.get("cookie")?.map((cookie) => \`Bearer \${cookie.replace(/^.*=/, "")}\`);`,
    ],
    [
      "AUTH-02",
      "A query string is no fault.",
      "if (request.url !== rules.path)",
      `if (request.url?.split("?")[0] !== rules.path)`,
    ],
    [
      "AUTH-03",
      "A header that is no Bearer is passed over.",
      "return token === undefined ? no(401,",
      "return token === undefined ? authorization.length === 1 ? { subprotocol } : no(401,",
    ],
    [
      "FRM-01",
      "The broker's order of subprotocols counts.",
      "return [...names].find((name) => served.includes(name));",
      "return served.find((name) => [...names].includes(name));",
    ],
    [
      "FRM-02",
      "A client that offers no subprotocol is upgraded.",
      "if (subprotocol === undefined) return no(426,",
      'if (subprotocol === "") return no(426,',
    ],
    ["FRM-04", "Two Host headers are no fault.", "if (host?.length !== 1) return", "if (host === undefined) return"],
    ["FRM-04", "Any Host is answered to.", "hosts.has(name) ? undefined :", 'name !== "" ? undefined :'],
    [
      "FRM-05",
      "Any Origin may connect.",
      'const allowed = origin.length === 1 && origin[0] !== "null" && origins.has(origin[0] ?? "");',
      'const allowed = origin.length === 1 && origin[0] !== "null";',
    ],
  ]),
  ...faultsOf("transport/ws-server.ts", "integration/hello integration/sessions", [
    [
      "AUTH-03",
      "An unknown token of the upgrade is passed over.",
      "if (judged.token !== undefined && proven === undefined) {",
      'if (judged.token === "") {',
    ],
    [
      "LIM-08",
      "One connection too many is taken.",
      "this.#open.size >= limits.connections",
      "this.#open.size > limits.connections",
    ],
    [
      "LIM-08",
      "One unauthenticated connection too many is taken.",
      "strangers >= limits.unauthenticated",
      "strangers > limits.unauthenticated",
    ],
  ]),
  ...faultsOf("protocol/patterns.ts", "unit/protocol/patterns", [
    [
      "AUTH-05",
      "A single star crosses slashes.",
      `(deep || id.charAt(i - 1) !== "/")`,
      `(deep || id.charAt(i - 1) !== "")`,
    ],
    ["AUTH-05", "Two stars stop at a slash.", `(deep || id.charAt(i - 1) !== "/")`, `(id.charAt(i - 1) !== "/")`],
    [
      "AUTH-05",
      "A star takes at least one character.",
      "next[i] = reach[i] === true || carried;",
      "next[i] = (reach[i] === true && i > 0) || carried;",
    ],
    [
      "AUTH-05",
      "A pattern without stars covers what begins like it.",
      "return pattern === id;",
      "return id.startsWith(pattern);",
    ],
    [
      "AUTH-05",
      "A pattern covers what goes on behind it.",
      "return reach[id.length] === true;",
      "return reach.includes(true);",
    ],
    [
      "AUTH-06",
      "A lone star of a worker or an issue stops at a slash.",
      `pattern === "*" || matchesPattern(pattern, id);`,
      "matchesPattern(pattern, id);",
    ],
  ]),
  ...faultsOf("protocol/grants.ts", "unit/protocol/patterns unit/kernel/admission", [
    [
      "AUTH-06",
      "A lone star of a lane crosses slashes.",
      "matchesPattern(patterns.lane, scope.lane)",
      "matchesWhole(patterns.lane, scope.lane)",
    ],
    ["ADM-02", "A grant covers every worker.", "matchesWhole(patterns.worker, scope.worker_id) &&", ""],
    ["ADM-02", "A grant covers every issue.", "matchesWhole(patterns.issue, scope.issue) &&", ""],
    ["ADM-02", "A grant covers every lane.", "&&\n    matchesPattern(patterns.lane, scope.lane)", ""],
  ]),
  ...faultsOf("kernel/authority.ts", "unit/kernel/admission unit/kernel/grants unit/kernel/decline-withdraw", [
    ["AUTH-07 ADM-00", "A connection has every verb of its token.", " && ROLE_VERBS[role].includes(verb);", ";"],
    ["AUTH-07 ADM-00", "A connection has every verb of its role.", "grant.verbs.includes(verb) && ", ""],
    ["AUTH-08 ADM-00", "A grant holds at its expiry.", "now < grant.expires_at", "now <= grant.expires_at"],
    ["ADM-00 REF-01", "A revoked grant holds.", "return !grant.revoked && (", "return ("],
    [
      "REF-01",
      "A request with a revoked token is told NO_GRANT.",
      "if (!isValid(grant, now)) return REVOKED;",
      "if (!isValid(grant, now)) return NO_GRANT;",
    ],
    [
      "REF-01",
      "Any token grants any verb.",
      "return allows(grant, by, verb) ? undefined : NO_GRANT;",
      "return undefined;",
    ],
    [
      "VER-04",
      "Requests that are not served yet pass.",
      `if (verb === "unserved") return NO_GRANT;`,
      `if (verb === "unserved") return undefined;`,
    ],
    [
      "REF-01",
      "A worker's token speaks for another worker.",
      "return by.subject === worker_id ? undefined : NO_GRANT;",
      'return worker_id === "" ? NO_GRANT : undefined;',
    ],
  ]),
  ...faultsOf("kernel/evolve.ts", "unit/kernel/grants", [
    ["AUTH-09", "A revocation is logged and has no effect.", "if (grant !== undefined) grant.revoked = true;", ""],
    [
      "LIFE-49",
      "The expiry of a grant is not looked for.",
      "state.due.put({ dueAt: event.expires_at, index, place: OUTSIDE, token: event.token });",
      "",
    ],
  ]),
  ...faultsOf("broker/effects.ts", "integration/hello", [
    [
      "AUTH-10",
      "The connections of a revoked token live on.",
      `for (const event of events) if (event.kind === "grant_revoked") endSessions(parts, event.token);`,
      "",
    ],
  ]),
  ...faultsOf("broker/connection.ts", "integration/hello", [
    [
      "AUTH-14",
      "The connections of a token that expires live on.",
      "if (opened.expiresAt !== undefined) this.#expire(opened.expiresAt);",
      "",
    ],
    ["FRM-08", "A connection may wait for ever with its hello.", "() => this.close(CLOSE.HELLO_TIMEOUT)", "() => {}"],
    [
      "FRM-09",
      "A first frame that is not hello is passed over.",
      `if (parsed.request.type !== "hello") return this.#turnAway(CLOSE.BAD_FRAME);`,
      `if (parsed.request.type !== "hello") return;`,
    ],
    [
      "FRM-10",
      "A second hello is refused on an open connection.",
      `if (typeOf(parsed) === "hello") return this.close(CLOSE.BAD_FRAME);`,
      "",
    ],
    [
      "FRM-11",
      "A malformed hello is closed without an answer.",
      `type === "hello" ? refuseHello(id, refusal) : undefined`,
      "undefined",
    ],
  ]),
  ...faultsOf("broker/broker.ts", "integration/hello", [
    [
      "AUTH-08",
      "The upgrade takes a token at the time of its expiry.",
      "isValid(grant, this.#parts.core.now())",
      "isValid(grant, this.#parts.core.now() - 1)",
    ],
  ]),
  ...faultsOf("broker/grant-request.ts", "unit/broker/grant-request", [
    [
      "AUTH-12",
      "A missing pattern covers everything.",
      "if (value === undefined) throw new RangeError(",
      `if (value === undefined) return "**";\n  if (value === "") throw new RangeError(`,
    ],
    [
      "AUTH-11",
      "The operator's token may publish.",
      `verbs: ["correct", "watch", "audit", "audit.text", "admin"],`,
      `verbs: ["publish", "correct", "watch", "audit", "audit.text", "admin"],`,
    ],
  ]),
  ...faultsOf("broker/connection.ts", "integration/sessions", [
    ["FRM-39", "Frames are not counted.", "if (!this.#budget.take()) return this.close(CLOSE.TOO_MANY);", ""],
    [
      "FRM-39",
      "A burst is one frame longer.",
      "if (this.#left < 1) return false;",
      "if (this.#left < 0) return false;",
    ],
  ]),
  ...faultsOf("broker/broker.ts", "integration/durability", [
    [
      "AUTH-09",
      "A token works before its grant is durable.",
      "core.execute(command);\n    await core.committed();",
      "core.execute(command);",
    ],
  ]),
];
