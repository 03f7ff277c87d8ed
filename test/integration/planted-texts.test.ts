import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { a2achanProgram } from "../../src/cli/program.js";
import { httpApp } from "../../src/http/app.js";
import type { RequestType } from "../../src/protocol/index.js";
import { TestBroker } from "../support/broker.js";
import { Haul } from "../support/haul.js";
import { PlantedTexts } from "../support/planted-texts.js";
import { Probe } from "../support/probe.js";
import { builtProgram, Program } from "../support/program.js";
import { EVERYWHERE } from "../support/serve.js";
import { SCOPE } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";

const CODECS = ["json", "msgpack"] as const;
const NOBODY = `corr_${"0".repeat(32)}`;

let broker: TestBroker;
let planted: PlantedTexts;
/** Who reads: an auditor without texts, one with them, and one for whom nothing was written. */
let tokens: { auditor: string; reader: string; worker: string; orchestrator: string };
/** What the auditor without texts was pushed while all of it came about. */
const pushed = new Haul(PlantedTexts.NEEDLE);
const following: Probe[] = [];
let salts: Set<string>;
let size: number;

const haul = (): Haul => new Haul(PlantedTexts.NEEDLE);
const pause = (): void => broker.clock.advance(2_000);

beforeAll(async () => {
  broker = await TestBroker.start({ publicLog: true });
  const token = async (request: Parameters<typeof broker.running.addToken>[0]): Promise<string> =>
    (await broker.running.addToken(request)).token;
  tokens = {
    auditor: await token({ role: "auditor", subject: "eve" }),
    reader: await token({ role: "auditor", subject: "rita", text: true }),
    worker: await token({ role: "worker", subject: "w-x", issue: "**", lane: "**" }),
    orchestrator: await token({ role: "orchestrator", subject: "lead", ...EVERYWHERE, worker: "w-x" }),
  };
  for (const codec of CODECS) {
    const probe = await Probe.open(broker.url, codec, pushed, tokens.auditor);
    await probe.ask({ type: "hello", role: "auditor" });
    await probe.ask({ type: "follow", after: 0 });
    following.push(probe);
  }
  planted = new PlantedTexts(broker);
  await planted.plant();
  size = (await broker.entries()).length;
  salts = new Set();
  const reader = await Probe.open(broker.url, "json", haul(), tokens.reader);
  await reader.ask({ type: "hello", role: "auditor" });
  for (let after = 0; after < size;) {
    pause();
    const page = await reader.ask({ type: "log", after });
    for (const { salt } of page["texts"] as { salt: string }[]) salts.add(salt);
    after = page["next"] as number;
  }
  reader.drop();
}, 120_000);

afterAll(async () => {
  for (const probe of following) probe.drop();
  await broker.stop();
});

/** Each kind of request with all the parameters that could bring a text. */
function requests(): Record<RequestType, Frame[]> {
  // A round plants so many of every kind: each fifth is some of each.
  const corrections = [...planted.corrections, NOBODY].filter((_, at) => at % 5 === 0);
  const workers = [...planted.workers, "nobody"];
  const indices = Array.from({ length: size + 1 }, (_, index) => index);
  const each = <T>(values: readonly T[], type: string, fields: (value: T) => object): Frame[] =>
    values.map((value) => ({ type, ...fields(value) }));
  const pages = (type: "log" | "follow"): Frame[] => [
    ...each(indices, type, (after) => ({ after, limit: 1 })).filter((_, at) => at % 10 === 0),
    ...each(indices, type, (after) => ({ after })).filter((_, at) => at % 50 === 0),
    ...each(workers, type, (worker_id) => ({ after: 0, worker_id })),
    ...each(corrections, type, (correction_id) => ({ after: 0, correction_id })),
  ];
  const cited = { status_digest: "sha256:0" };
  return {
    hello: [{ type: "hello", role: "auditor" }],
    status: [{ type: "status", ...SCOPE }],
    receive: each(corrections, "receive", (correction_id) => ({ correction_id })),
    ack: each(corrections, "ack", (correction_id) => ({ correction_id, ...cited })),
    decline: each(corrections, "decline", (correction_id) => ({ correction_id, ...cited, reason: "no" })),
    inbox: [{ type: "inbox", open: true }],
    bye: [{ type: "bye" }],
    get: each(workers, "get", (worker_id) => ({ worker_id })),
    list: [{ type: "list" }, ...each(workers, "list", (worker_id) => ({ filter: { worker_id } }))],
    watch: [{ type: "watch" }, ...each(workers, "watch", (worker_id) => ({ filter: { worker_id } }))],
    unwatch: [{ type: "unwatch" }],
    correct: each(workers, "correct", (worker_id) => ({ worker_id, ...SCOPE, message: "What is there?" })),
    withdraw: each(corrections, "withdraw", (correction_id) => ({ correction_id })),
    stage: each(corrections, "stage", (correction_id) => ({ correction_id })),
    log: pages("log"),
    follow: pages("follow"),
    progress: [{ type: "progress", markdown: "half way" }],
    evidence: [{ type: "evidence", refs: [{ kind: "path", ref: "a" }] }],
    checkpoint: [{ type: "checkpoint" }],
    prove: [
      ...each(indices, "prove", (index) => ({ index })),
      ...each(indices, "prove", (from_size) => ({ from_size })).filter((_, at) => at % 10 === 0),
    ],
    ping: [{ type: "ping" }],
  };
}

/** All that a session is told when it asks for everything, or all of those types. */
async function asked(
  token: string,
  hello: Frame,
  into: Haul,
  codec: (typeof CODECS)[number],
  ...types: RequestType[]
): Promise<Frame[]> {
  const probe = await Probe.open(broker.url, codec, into, token);
  const welcome = await probe.ask(hello);
  // Nothing is answered after a second hello.
  const { hello: again, ...others } = requests();
  const frames = Object.values(others).flat();
  const chosen = types.length === 0 ? frames : frames.filter(({ type }) => types.includes(type as RequestType));
  const replies = await probe.askAll(chosen, pause);
  const last = await probe.askAll(again, pause);
  probe.drop();
  return [welcome, ...replies, ...last];
}

function expectNothing(found: Haul): void {
  expect([...found.needles]).toEqual([]);
  expect([...found.among(salts)]).toEqual([]);
}

describe("1,000 planted texts", () => {
  it("are there for an auditor with a grant of texts, so that this test can fail", async () => {
    expect([planted.kept.size, planted.gone.size]).toEqual([1_000, 384]);
    expect(salts.size).toBe(1_000);
    for (const codec of CODECS) {
      const found = haul();
      await asked(tokens.reader, { type: "hello", role: "auditor" }, found, codec);
      expect([...found.needles].sort()).toEqual([...planted.kept].sort());
      expect(found.among(salts).size).toBe(salts.size);
    }
  }, 60_000);

  it("come to an auditor without one by no frame that it sends, and by none that it is pushed [A2C-FRM-26]", async () => {
    for (const codec of CODECS) {
      const found = haul();
      const replies = await asked(tokens.auditor, { type: "hello", role: "auditor" }, found, codec);
      expect(replies.filter(({ type }) => type === "closed")).toEqual([replies.at(-1)]);
      expect(new Set(replies.map(({ type }) => type))).toEqual(
        new Set(["welcome", "refusal", "receipt", "entries", "proof", "pong", "closed"]),
      );
      expectNothing(found);
      for (const role of ["worker", "orchestrator", "operator"]) {
        const other = haul();
        await asked(
          tokens.auditor,
          { type: "hello", role, ...(role === "worker" && { worker_id: "w-0" }) },
          other,
          codec,
        );
        expectNothing(other);
      }
    }
    expect(pushed.bytes).toBeGreaterThan(size * 100);
    expectNothing(pushed);
  }, 60_000);

  it("come by no URL, to nobody, whether the log is public or not", async () => {
    const guarded = httpApp(broker.running.broker, { publicLog: false });
    expect(new Set(guarded.routes.map(({ path }) => path))).toEqual(
      new Set(["/log/*", "/log/checkpoint", "/log/tile/*", "/healthz", "/readyz", "/v1"]),
    );
    const full = String(Math.floor(size / 256)).padStart(3, "0");
    const tiles = ["entries", "0"].flatMap((level) => [
      ...Array.from({ length: Number(full) }, (_, at) => `/log/tile/${level}/${String(at).padStart(3, "0")}`),
      ...[1, size % 256].map((width) => `/log/tile/${level}/${full}.p/${width}`),
    ]);
    const open = ["/healthz", "/readyz"];
    const served = [...tiles, "/log/checkpoint", "/log/tile/1/000.p/1"];
    const [correction = NOBODY] = planted.corrections;
    const others =
      "/,/v1,/log,/log/,/log/texts,/log/tile/texts/000,/log/entries/0,/log?text=true,/texts,/metrics".split(",");
    const found = haul();
    const read: number[] = [];
    for (const token of [tokens.auditor, tokens.reader, undefined]) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const get = [
        (path: string, method = "GET") => fetch(`${broker.running.http}${path}`, { method, headers }),
        (path: string, method = "GET") => guarded.request(path, { method, headers }),
      ];
      for (const ask of get) {
        const answers = [];
        for (const path of [...open, ...served, ...others, `/v1/${correction}`]) answers.push(await ask(path));
        for (const method of ["POST", "PUT", "OPTIONS", "HEAD"]) {
          for (const path of [...open, "/log/tile/entries/000", "/v1"])
            found.take(await (await ask(path, method)).text());
        }
        for (const answer of answers) {
          found.take(JSON.stringify([...answer.headers]));
          found.take(new Uint8Array(await answer.arrayBuffer()));
        }
        read.push(answers.filter(({ status }) => status === 200).length);
      }
    }
    // Without a token: all of a public log, and nothing of another.
    const all = open.length + served.length;
    expect(read).toEqual([all, all, all, all, all, open.length]);
    expectNothing(found);
  }, 60_000);

  it("come to neither a worker nor an orchestrator for whom they are not", async () => {
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "sender-of-w-0", ...EVERYWHERE });
    for (const [bearer, hello, ...types] of [
      [tokens.worker, { type: "hello", role: "worker", worker_id: "w-x" }],
      [tokens.orchestrator, { type: "hello", role: "orchestrator", resume_from: "log.0" }],
      // One whose own corrections are among them, by what reads the log and the stages.
      [token, { type: "hello", role: "orchestrator" }, "log", "follow", "prove", "stage", "withdraw"],
    ] as [string, Frame, ...RequestType[]][]) {
      const found = haul();
      const [welcome] = await asked(bearer, hello, found, "json", ...types);
      expect(welcome?.type).toBe("welcome");
      expectNothing(found);
    }
  }, 60_000);
});

describe("the command line of an auditor without texts", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "a2achan-planted-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** What each command is asked; `serve` and `demo` start brokers of their own. */
  function commands(file: string): Record<string, string[][]> {
    const { url } = broker.running;
    const [correction = NOBODY] = planted.corrections;
    const client = ["--url", url, "--token-file", file];
    const last = [...planted.corrections].at(-1) ?? NOBODY;
    return {
      serve: [],
      demo: [],
      status: [["-o", "json"]],
      token: [["list"]],
      workers: [["-o", "jsonl", ...client]],
      get: [["w-0"], ["w-0", "-o", "json", ...client]],
      correct: [["w-0", "What is there?", "--digest", `sha256:${"0".repeat(64)}`]],
      stage: [[correction, "-o", "json", ...client]],
      withdraw: [[last]],
      log: [["--text"], ["--text", ...client]],
      explain: [[correction], [correction, ...client]],
      verify: [
        [url, "-o", "json"],
        [url, "--token-file", file],
      ],
      export: [["out.jsonl"], ["--tiles", "tiles"]],
      receipt: [[correction], ["--index", "5"]],
      redact: [[correction]],
      completion: [["bash"]],
    };
  }

  it("prints none of them, and writes none, whatever it is told to do with the broker", async () => {
    const file = join(directory, "auditor.token");
    writeFileSync(file, tokens.auditor, { mode: 0o600 });
    const all = commands(file);
    expect(Object.keys(all).sort()).toEqual(
      a2achanProgram()
        .commands.map((command) => command.name())
        .sort(),
    );
    const env = { PATH: process.env["PATH"], A2ACHAN_URL: broker.running.url, A2ACHAN_TOKEN: tokens.auditor };
    const found = haul();
    const runs = Object.entries(all).flatMap(([name, ways]) => ways.map((args) => [name, ...args]));
    const codes: [string, number | null][] = [];
    const work = async (): Promise<void> => {
      for (let args = runs.shift(); args !== undefined; args = runs.shift()) {
        const { code, stdout, stderr } = await new Program([builtProgram(), ...args], { env, cwd: directory }).ended;
        found.take(stdout + stderr);
        codes.push([args[0] ?? "", code]);
      }
    };
    await Promise.all([work(), work()]);
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
      const path = join(directory, name);
      if (statSync(path).isFile()) found.take(readFileSync(path));
    }
    // Verifying needs no texts; the log's own files are not the auditor's; the rest is for orchestrators.
    const codesOf = (name: string): (number | null)[] => codes.filter(([of]) => of === name).map(([, code]) => code);
    expect(codesOf("verify")).toEqual([0, 0]);
    expect(["workers", "get", "correct", "stage", "withdraw"].flatMap(codesOf)).toEqual([4, 4, 4, 4, 4, 4]);
    expectNothing(found);
  }, 90_000);
});
