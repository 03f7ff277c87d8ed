import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAuditor, type Auditor } from "../../../src/client/auditor.js";
import { A2achanError } from "../../../src/client/errors.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;
let client: Auditor;
let script: Script;

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
  const opening = openAuditor({ url: broker.url, token: "t" }, runtime);
  script = await broker.accept();
  await script.welcome("auditor");
  client = await opening;
});

afterEach(async () => {
  await client.close();
  await broker.stop();
});

const line = (index: number): string => `{"index":${index},"kind":"fold"}`;
const lines = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, offset) => line(from + offset));
const page = (from: number, to: number): Record<string, unknown> => ({
  type: "entries",
  entries: lines(from, to),
  next: to,
});

describe("log", () => {
  it("reads a page, with its texts", async () => {
    const text = { index: 4, field: "message", salt: "00", utf8: "Stay." };
    const call = client.log({ after: 3, limit: 2, worker_id: "w-1", correction_id: `corr_${"1".repeat(32)}` });
    const frame = await script.next();
    expect(frame).toEqual({
      type: "log",
      id: "r1",
      after: 3,
      limit: 2,
      worker_id: "w-1",
      correction_id: "corr_11111111111111111111111111111111",
    });
    script.send({ ...page(3, 5), id: frame["id"], texts: [text] });
    expect(await call).toEqual({ entries: [line(3), line(4)], texts: [text], next: 5 });
  });

  it("reads from the start by default, and is refused as a value", async () => {
    const call = client.log();
    const frame = await script.next();
    expect(frame).toEqual({ type: "log", id: "r1", after: 0 });
    script.send({ type: "refusal", id: frame["id"], reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await call).toMatchObject({ refused: true, reason: "DEFAULT_DENY" });
  });
});

describe("follow", () => {
  it("yields what is there, then what comes, each with its index and texts", async () => {
    const entries = client.follow({ after: 2 });
    const frame = await script.next();
    expect(frame).toEqual({ type: "follow", id: "r1", after: 2 });
    const text = { index: 3, field: "message", salt: "00", utf8: "Stay." };
    script.sendAtOnce({ ...page(2, 4), id: frame["id"], texts: [text] }, page(4, 5));
    expect((await entries.next()).value).toEqual({ index: 2, line: line(2), texts: [] });
    expect((await entries.next()).value).toEqual({ index: 3, line: line(3), texts: [text] });
    expect((await entries.next()).value).toEqual({ index: 4, line: line(4), texts: [] });
  });

  it("follows on from where it was after a reconnect, and yields nothing twice", async () => {
    const entries = client.follow();
    script.send({ ...page(0, 2), id: (await script.next())["id"] });
    expect((await entries.next()).value).toMatchObject({ index: 0 });
    script.drop();
    await runtime.clock.fire(FIRST_RETRY_MS);
    script = await broker.accept();
    await script.welcome("auditor");
    const frame = await script.next();
    expect(frame).toMatchObject({ type: "follow", after: 2 });
    script.send({ ...page(2, 3), id: frame["id"] });
    script.send(page(1, 4));
    const seen = [];
    for (let n = 0; n < 3; n += 1) seen.push((await entries.next()).value);
    expect(seen).toMatchObject([{ index: 1 }, { index: 2 }, { index: 3 }]);
  });

  it("lets go of what its consumer does not take, and reads it from the log later", async () => {
    const entries = client.follow();
    script.send({ ...page(0, 1), id: (await script.next())["id"] });
    for (let from = 1; from < 5_500; from += 500) script.send(page(from, from + 500));
    await script.ping();
    const take = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index += 1) expect((await entries.next()).value).toMatchObject({ index });
    };
    await take(0, 4_501);
    const next = entries.next();
    const first = await script.next();
    expect(first).toEqual({ type: "log", id: "r2", after: 4_501 });
    script.sendAtOnce({ ...page(4_501, 5_000), id: first["id"] }, page(5_501, 5_600));
    expect((await next).value).toMatchObject({ index: 4_501 });
    await take(4_502, 5_000);
    const later = entries.next();
    const second = await script.next();
    expect(second).toEqual({ type: "log", id: "r3", after: 5_000 });
    script.sendAtOnce({ ...page(5_000, 5_650), id: second["id"] }, page(5_600, 5_700));
    expect((await later).value).toMatchObject({ index: 5_000 });
    await take(5_001, 5_700);
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("ends when a second one begins", async () => {
    const first = client.follow();
    script.send({ ...page(0, 1), id: (await script.next())["id"] });
    await first.next();
    const waiting = first.next();
    const second = client.follow({ after: 1 });
    expect(await waiting).toEqual({ done: true, value: undefined });
    script.send({ ...page(1, 2), id: (await script.next())["id"] });
    expect((await second.next()).value).toMatchObject({ index: 1 });
  });

  it("yields a refusal as its last item", async () => {
    const entries = client.follow();
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect((await entries.next()).value).toMatchObject({ refused: true, reason: "DEFAULT_DENY" });
    expect(await entries.next()).toEqual({ done: true, value: undefined });
  });

  it("fails with protocol on a line that is no entry", async () => {
    const entries = client.follow();
    script.send({ type: "entries", id: (await script.next())["id"], entries: ["nonsense"], next: 1 });
    const failed = entries.next().then(
      () => "resolved",
      (error: unknown) => (error instanceof A2achanError ? error.code : "other"),
    );
    expect(await failed).toBe("protocol");
  });
});
