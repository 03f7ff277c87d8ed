import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findCycles, findLayerViolations, reach, type InnerNames, type LayerTable } from "./support/layers.js";
import { findMentions, findPurityViolations, findShapeViolations } from "./support/shape.js";
import { projectRoot, readSources, type SourceFile } from "./support/source-files.js";

/**
 * Who may import whom. Arrows point down only: vocabulary, pure decider, one writer, edges.
 * The client never sees the broker's side, and storage knows the kernel's types alone.
 */
const TABLE: LayerTable = {
  protocol: {
    layers: [],
    packages: ["zod", "@noble/hashes"],
    node: { "node:crypto": ["createHash", "createHmac", "hash", "timingSafeEqual"] },
  },
  kernel: { layers: ["protocol"], packages: [], node: {} },
  tlog: {
    layers: [],
    packages: [],
    node: {
      "node:crypto": [
        "createHash",
        "createHmac",
        "createPrivateKey",
        "createPublicKey",
        "hash",
        "sign",
        "timingSafeEqual",
        "verify",
      ],
    },
  },
  codec: { layers: ["protocol"], packages: ["msgpackr"], node: {} },
  storage: {
    layers: ["protocol", "tlog"],
    types: ["kernel"],
    packages: [],
    node: { "node:fs": "any", "node:fs/promises": "any", "node:path": "any", "node:zlib": ["crc32"] },
  },
  broker: {
    layers: ["protocol", "kernel", "tlog", "storage"],
    packages: ["pino", "lru-cache"],
    node: { "node:crypto": "any", "node:fs": "any", "node:fs/promises": "any", "node:path": "any" },
  },
  transport: {
    layers: ["protocol", "codec", "broker"],
    packages: ["ws"],
    node: { "node:crypto": "any", "node:http": "any", "node:net": "any", "node:stream": "any" },
  },
  http: {
    layers: ["protocol", "tlog", "broker"],
    packages: ["hono", "@hono/node-server"],
    node: { "node:http": "any" },
  },
  client: {
    layers: ["protocol", "codec", "tlog"],
    packages: ["ws"],
    node: { "node:fs/promises": ["open", "readFile", "rename"] },
  },
  cli: { layers: "any", packages: "any", node: "any" },
  "server.ts": {
    layers: ["protocol", "kernel", "tlog", "codec", "storage", "broker", "transport", "http"],
    packages: ["pino", "@hono/node-server"],
    node: { "node:crypto": ["randomBytes"], "node:http": "any", "node:net": [] },
  },
  "index.ts": {
    layers: ["server.ts", "protocol", "kernel", "tlog", "codec", "storage", "broker", "transport", "http", "client"],
    packages: [],
    node: {},
  },
};

const PURE = ["protocol", "kernel", "tlog"];

const sources = readSources("src");
const manifest = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  imports: Record<string, Record<"browser" | "default", string>>;
};
const dependencies = Object.keys(manifest.dependencies);

/** The source file that a file of the build comes from. */
const sourceOf = (output: string): string => output.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts");
/** What each `#name` of package.json can mean under one of its conditions. */
const innerNames = (...conditions: ("browser" | "default")[]): InnerNames =>
  Object.fromEntries(
    Object.entries(manifest.imports).map(([name, targets]) => [
      name,
      conditions.map((condition) => sourceOf(targets[condition])),
    ]),
  );
const inner = innerNames("browser", "default");

const isPure = ({ path }: SourceFile): boolean => PURE.some((folder) => path.startsWith(`${folder}/`));

describe("the sources", () => {
  it("import only what the table allows", () => {
    expect(sources).not.toEqual([]);
    expect(findLayerViolations(TABLE, sources, dependencies, inner)).toEqual([]);
  });

  it("import one another without a cycle", () => {
    expect(findCycles(sources, inner)).toEqual([]);
  });

  it("reach for no hidden global in protocol, kernel and tlog", () => {
    expect(sources.filter(isPure)).not.toEqual([]);
    expect(findPurityViolations(sources.filter(isPure))).toEqual([]);
  });

  it("keep the house style", () => {
    expect(findShapeViolations(sources)).toEqual([]);
  });
});

describe("the client in a browser", () => {
  const client = reach(sources, "client/index.ts", innerNames("browser"));

  it("takes the platform's socket and a hash without Node", () => {
    expect(client.files).toContain("client/socket-browser.ts");
    expect(client.files).toContain("protocol/hash-browser.ts");
    expect(client.files).not.toContain("client/socket.ts");
    expect(client.files.filter((path) => path.startsWith("tlog/"))).toEqual([]);
    expect(client.files).not.toContain("protocol/hash.ts");
  });

  it("reaches no module of Node, and no package but zod and a pure hash", () => {
    const packages = client.outside.map((mention) => mention.replace(/^.*: /, ""));
    expect([...new Set(packages)].sort()).toEqual([
      "@noble/hashes/hmac.js",
      "@noble/hashes/sha2.js",
      "@noble/hashes/utils.js",
      "zod",
    ]);
  });

  it("names no Buffer and no process", () => {
    const reached = sources.filter(({ path }) => client.files.includes(path));
    expect(reached.map(({ path }) => path).sort()).toEqual([...client.files].sort());
    expect(findMentions(reached, ["Buffer", "process", "require", "global", "setImmediate"])).toEqual([]);
  });

  it("means by each inner name in the sources what the build means where Node runs it", () => {
    const { imports } = JSON.parse(readFileSync(join(projectRoot, "src/package.json"), "utf8")) as {
      imports: Record<string, string>;
    };
    const named = Object.entries(imports).map(([name, path]) => [name, [path.replace("./", "")]]);
    expect(Object.fromEntries(named)).toEqual(innerNames("default"));
  });
});

/** A small tree that every planted file can import from. */
const tree: SourceFile[] = ["kernel/state", "storage/store", "client/index", "cli/main", "protocol/ids", "server"].map(
  (stem) => ({ path: `${stem}.ts`, text: "export {};\n" }),
);
const packages = ["zod", "ws", "pino", "msgpackr", "hono"];

const judge = (path: string, text: string): string[] =>
  findLayerViolations(TABLE, [...tree.filter((file) => file.path !== path), { path, text }], packages);

describe("the table", () => {
  it.each([
    ["kernel/x.ts", `import { a } from "../storage/store.js";`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `export { a } from "../storage/store.js";`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `import "../storage/store.js";`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `void import("../storage/store.js");`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `require("../storage/store.js");`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `import a = require("../storage/store.js");`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `import type { A } from "../storage/store.js";`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `type A = import("../storage/store.js").A;`, "may not import storage (../storage/store.js)"],
    ["kernel/x.ts", `import { hash } from "node:crypto";`, "may not import node:crypto"],
    ["kernel/x.ts", `import { z } from "zod";`, "may not import the package zod"],
    ["protocol/x.ts", `import { randomUUID } from "node:crypto";`, "may not take randomUUID from node:crypto"],
    [
      "protocol/x.ts",
      `import { hash, randomBytes as r } from "node:crypto";`,
      "may not take randomBytes from node:crypto",
    ],
    ["protocol/x.ts", `import * as c from "node:crypto";`, "may not take * from node:crypto"],
    ["protocol/x.ts", `import c from "node:crypto";`, "may not take default from node:crypto"],
    ["protocol/x.ts", `import { sign } from "node:crypto";`, "may not take sign from node:crypto"],
    ["protocol/x.ts", `import "node:crypto";`, "may not import node:crypto for its effects"],
    ["protocol/x.ts", `await import("node:crypto");`, "may not take * from node:crypto"],
    ["protocol/x.ts", `await import(name);`, "loads name, which is not a literal"],
    [
      "tlog/x.ts",
      `import { generateKeyPairSync } from "node:crypto";`,
      "may not take generateKeyPairSync from node:crypto",
    ],
    ["tlog/x.ts", `import { a } from "../protocol/ids.js";`, "may not import protocol (../protocol/ids.js)"],
    ["codec/x.ts", `import { Buffer } from "node:buffer";`, "may not import node:buffer"],
    [
      "storage/x.ts",
      `import { a } from "../kernel/state.js";`,
      "may import only types from kernel (../kernel/state.js)",
    ],
    [
      "storage/x.ts",
      `import { type A } from "../kernel/state.js";`,
      "may import only types from kernel (../kernel/state.js)",
    ],
    [
      "storage/x.ts",
      `export { a } from "../kernel/state.js";`,
      "may import only types from kernel (../kernel/state.js)",
    ],
    ["client/x.ts", `import type { A } from "../kernel/state.js";`, "may not import kernel (../kernel/state.js)"],
    ["client/x.ts", `import { a } from "../server.js";`, "may not import server.ts (../server.js)"],
    ["broker/x.ts", `import { WebSocket } from "ws";`, "may not import the package ws"],
    ["broker/x.ts", `import { readFileSync } from "fs";`, "imports fs without node:"],
    ["broker/x.ts", `process.getBuiltinModule("node:http");`, "may not import node:http"],
    [
      "http/x.ts",
      `import { stream } from "hono/streaming"; import "./gone.js";`,
      "imports ./gone.js, which is no source file",
    ],
    [
      "http/x.ts",
      `import pkg from "../../package.json" with { type: "json" };`,
      "imports ../../package.json, which is no source file",
    ],
    ["cli/x.ts", `import { a } from "a2achan";`, "imports a2achan, which is not in dependencies"],
    ["cli/x.ts", `import { a } from "vitest";`, "imports vitest, which is not in dependencies"],
    ["server.ts", `import { a } from "./cli/main.js";`, "may not import cli (./cli/main.js)"],
    ["helpers/x.ts", `export const a = 1;`, "helpers is not in the table"],
  ])("refuses in %s: %s", (path, text, fault) => {
    expect(judge(path, text)).toEqual([`${path}:1 ${fault}`]);
  });

  it.each([
    ["protocol/x.ts", `import { hash, type KeyObject } from "node:crypto"; import { z } from "zod";`],
    ["tlog/x.ts", `import { sign, verify } from "node:crypto"; import type { KeyObject } from "node:crypto";`],
    ["codec/x.ts", `import { Packr } from "msgpackr/index-no-eval";`],
    ["storage/x.ts", `import type { A } from "../kernel/state.js"; import { open } from "node:fs/promises";`],
    ["kernel/x.ts", `import { a } from "./state.js"; import { b } from "../protocol/ids.js";`],
    [
      "cli/x.ts",
      `import { a } from "../server.js"; import { b } from "../kernel/state.js"; import "node:repl"; import "pino";`,
    ],
  ])("allows in %s: %s", (path, text) => {
    expect(judge(path, text)).toEqual([]);
  });
});

describe("findCycles", () => {
  it("finds a cycle, a cycle of types, and a file that imports itself", () => {
    const file = (path: string, text: string): SourceFile => ({ path, text });
    const planted = [
      file("a.ts", `import "./b.js";`),
      file("b.ts", `export { c } from "./c.js"; import "./free.js";`),
      file("c.ts", `import type { A } from "./a.js";`),
      file("free.ts", `export const x = 1;`),
      file("own.ts", `void import("./own.js");`),
    ];
    expect(findCycles(planted)).toEqual([
      ["a.ts", "b.ts", "c.ts", "a.ts"],
      ["own.ts", "own.ts"],
    ]);
  });
});

describe("inner names", () => {
  const file = (path: string, text: string): SourceFile => ({ path, text });
  const names = { "#socket": ["client/near.ts", "storage/far.ts"] };
  const planted = [
    file("client/index.ts", `import "#socket"; import type { A } from "./types.js";`),
    file("client/near.ts", `import "node:net"; import "./index.js";`),
    file("client/types.ts", `import "ws";`),
    file("storage/far.ts", ""),
  ];

  it("are judged by every file that they can mean", () => {
    expect(findLayerViolations(TABLE, planted.slice(0, 1), packages, names)).toEqual([
      "client/index.ts:1 imports #socket, which is no source file",
      "client/index.ts:1 imports ./types.js, which is no source file",
    ]);
    expect(findLayerViolations(TABLE, planted, packages, names)).toEqual([
      "client/index.ts:1 may not import storage (#socket)",
      "client/near.ts:1 may not import node:net",
    ]);
    expect(findCycles(planted, names)).toEqual([["client/index.ts", "client/near.ts", "client/index.ts"]]);
  });

  it("lead reach to what they mean, and erased mentions lead nowhere", () => {
    expect(reach(planted, "client/index.ts", { "#socket": ["client/near.ts"] })).toEqual({
      files: ["client/index.ts", "client/near.ts"],
      outside: ["client/near.ts: node:net"],
    });
    expect(reach(planted, "client/index.ts", { "#socket": ["storage/far.ts"] }).outside).toEqual([]);
  });
});

describe("findMentions", () => {
  it("finds a name that is used, and no member of that name", () => {
    const text = "Buffer.from(x);\nx.Buffer;\nlet a: Buffer;\n({ Buffer: 1 });";
    expect(findMentions([{ path: "x.ts", text }], ["Buffer"])).toEqual(["x.ts:1 Buffer", "x.ts:3 Buffer"]);
  });
});

describe("findPurityViolations", () => {
  const faults = (text: string): string[] => findPurityViolations([{ path: "x.ts", text }]);
  const math = "Math other than a named, deterministic member";

  it.each([
    ["globalThis.Date.now();", "globalThis"],
    [`globalThis["Date"];`, "globalThis"],
    ["const { Date: D } = globalThis;", "globalThis"],
    ["type D = typeof globalThis;", "globalThis"],
    ["global.process;", "global"],
    [`eval("1");`, "eval"],
    [`new Function("return 1");`, "Function"],
    ["Math.random();", math],
    [`Math["random"]();`, math],
    ["const m = Math;", math],
    ["const { random } = Math;", math],
    ["import.meta.url;", "import.meta"],
  ])("finds %s", (text, fault) => {
    expect(faults(text)).toEqual([`x.ts:1 ${fault}`]);
  });

  it.each(["Math.max(1, 2);", "x.globalThis;", "const x = { global: 1 };", "interface X { global: 1 }"])(
    "allows %s",
    (text) => {
      expect(faults(text)).toEqual([]);
    },
  );
});

describe("findShapeViolations", () => {
  const faults = (path: string, text: string): string[] => findShapeViolations([{ path, text }]);
  const long = "const a = 1;\n".repeat(301);

  it.each([
    ["x.ts", "export default 1;", "1 default export"],
    ["x.ts", "export default function f() {}", "1 default export"],
    ["x.ts", "export default class {}", "1 default export"],
    ["x.ts", "const a = 1;\nexport { a as default };", "2 default export"],
    ["x.ts", "export = 1;", "1 default export"],
    ["x.ts", `export * from "./y.js";`, "1 export *"],
    ["x.ts", `export type * from "./y.js";`, "1 export *"],
    ["x.ts", `export * as y from "./y.js";`, "1 export *"],
    ["x.ts", "enum E { A }", "1 enum"],
    ["x.ts", "export const enum E { A }", "1 enum"],
    ["kernel/eventStore.ts", "", "1 file name is not kebab-case"],
    ["kernel/event_store.ts", "", "1 file name is not kebab-case"],
    ["kernel/utils/x.ts", "", "1 folder named utils"],
    ["kernel/Deep/x.ts", "", "1 folder name is not kebab-case"],
    ["x.ts", long, "301 has 301 lines, over 300"],
  ])("finds in %s: %s", (path, text, fault) => {
    expect(faults(path, text)).toEqual([`${path}:${fault}`]);
  });

  it.each([
    ["x.ts", "const a = 1;\n".repeat(300)],
    ["protocol/text-table.ts", long],
    ["codec/msgpackr.d.ts", `declare module "a" { export * from "b"; }`],
    ["x.ts", `// export default\nexport { a } from "./y.js";`],
  ])("allows in %s what is within the rules", (path, text) => {
    expect(faults(path, text)).toEqual([]);
  });
});
