import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Book } from "../crash/book.js";
import { LoadClient } from "../crash/client.js";
import { inspect } from "../crash/inspect.js";
import { correctionOf, statusOf } from "../support/scenes.js";
import { EVERYWHERE, Serve, dataDirectory } from "../support/serve.js";
import type { Frame } from "../support/wire.js";
import { sickServe, whyNoInjection, type Injection } from "./strace.js";

const why = whyNoInjection();
if (why !== undefined) console.warn(`EIO is not injected: ${why}`);

let directory: ReturnType<typeof dataDirectory>;
let file: string;
let trace: string;
let tokens: { worker: string; orchestrator: string; auditor: string };

/** A log that was begun and closed in order. */
beforeEach(async () => {
  directory = dataDirectory();
  file = join(directory.path, "log", "00000000.jsonl");
  trace = join(directory.path, "trace");
  const broker = await Serve.start(directory.path);
  const [worker, orchestrator, auditor] = [
    await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" }),
    await broker.token({ role: "orchestrator", subject: "orch", ...EVERYWHERE }),
    await broker.token({ role: "auditor", subject: "auditor", text: true }),
  ];
  tokens = { worker: worker.token, orchestrator: orchestrator.token, auditor: auditor.token };
  await broker.stop();
});

afterEach(() => directory[Symbol.dispose]());

/** Keeps a broker busy until it dies; gives the code with which it closed each session. */
async function keepBusy(url: string, book: Book): Promise<(number | undefined)[]> {
  const connect = (token: string, hello: Record<string, unknown>): Promise<LoadClient> =>
    LoadClient.connect(url, token, hello, (frame) => book.read(frame));
  const worker = await connect(tokens.worker, { role: "worker", worker_id: "w-1" });
  const orchestrator = await connect(tokens.orchestrator, { role: "orchestrator" });
  const auditor = await connect(tokens.auditor, { role: "auditor" });
  void auditor.ask({ type: "follow", after: 0 });
  let digest: unknown = "";
  let step = 0;
  const untilClosed = async (client: LoadClient, next: () => Frame): Promise<void> => {
    for (let answer = await client.ask(next()); answer !== undefined; answer = await client.ask(next())) {
      digest = answer["status_digest"] ?? digest;
    }
  };
  await Promise.all([
    untilClosed(worker, () => statusOf(`step ${(step += 1)}`)),
    untilClosed(orchestrator, () => correctionOf("w-1", digest, `Mind step ${(step += 1)}.`)),
    (async () => {
      while (auditor.open) await auditor.pushes();
    })(),
  ]);
  return [worker.code, orchestrator.code, auditor.code];
}

/** The calls on the log's file, in order: the one that failed was the last. */
function expectNoRetry(): void {
  const calls = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => /fdatasync|pwrite64/.test(line));
  expect(calls.findIndex((line) => line.includes("(INJECTED)"))).toBe(calls.length - 1);
}

describe.skipIf(why !== undefined)("a broker whose disk answers EIO", () => {
  it.each<Omit<Injection, "file">>([
    { call: "fdatasync", nth: 5 },
    { call: "fdatasync", nth: 12 },
    { call: "pwrite64", nth: 9 },
  ])(
    "closes every session with 4500, tries nothing again, ends with 1 and has lost no answer: $call $nth [A2C-ANS-02] [A2C-ANS-03] [A2C-ANS-04] [A2C-ANS-05]",
    async (injection) => {
      const book = new Book();
      using program = sickServe(directory.path, { ...injection, file }, trace);
      const sick = await Serve.of(program, directory.path);
      expect(await keepBusy(sick.url, book)).toEqual([4500, 4500, 4500]);
      const { code, stderr } = await program.ended;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^a2achan: the log could not be written: i\/o error\n$/),
      });
      expectNoRetry();

      expect(book.claims.length).toBeGreaterThan(injection.nth);
      const broker = await Serve.start(directory.path);
      const { lost, faults } = await inspect(broker, book.claims);
      expect({ lost, faults }).toEqual({ lost: [], faults: [] });
      expect(await broker.stop()).toMatchObject({ code: 0 });
    },
  );

  it("does not start when the first thing that it writes fails, and says so in one sentence [A2C-ANS-05]", async () => {
    const { code, stdout, stderr } = await sickServe(directory.path, { call: "fdatasync", nth: 1, file }, trace).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^a2achan: [^\n]*EIO[^\n]*\n$/);
    expectNoRetry();
    expect(await (await Serve.start(directory.path)).stop()).toMatchObject({ code: 0 });
  });
});
