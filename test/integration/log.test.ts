import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { LocalBroker, turn, until, type LocalClient } from "../support/local.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import { SlowStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

const PAGE_BYTES = 49_152;
const LONG = "\u201c".repeat(165);

let store: MemoryStore;
let local: LocalBroker;
let auditor: LocalClient;
let reader: LocalClient;
let worker: LocalClient;
let orch: LocalClient;
let digest: string;

beforeEach(async () => {
  store = new MemoryStore();
  local = await LocalBroker.open({ store });
  auditor = await local.auditor("auditor");
  reader = await local.auditor("reader", true);
  worker = await local.worker("w-1");
  orch = await local.orchestrator("orch");
  digest = await publish(worker);
});
afterEach(() => local.stop());

interface Text {
  index: number;
  field: string;
  utf8: string;
}
const linesOf = (frames: readonly Frame[]): string[] => frames.flatMap(({ entries }) => entries as string[]);
const textsOf = (frames: readonly Frame[]): Text[] => frames.flatMap(({ texts }) => texts as Text[]);
const bytesOf = (frame: Frame): number => Buffer.byteLength(JSON.stringify(frame));

/** Pages of `log` from the start until nothing is left. */
async function readAll(client: LocalClient, fields: Record<string, unknown> = {}): Promise<Frame[]> {
  const pages = [];
  for (let after = 0; after < store.size();) {
    const page = await client.ask({ type: "log", after, ...fields });
    pages.push(page);
    expect(page["next"]).toBeGreaterThan(after);
    after = page["next"] as number;
  }
  return pages;
}
const stored = async (): Promise<string[]> => (await store.read(0, store.size())).entries;

/** Rows with long texts, a few to a second. */
async function longStory(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) {
    local.clock.advance(100);
    await publish(worker, `${LONG} ${step}`);
  }
}

describe("log", () => {
  it("answers the exact lines from `after` on, a page at a time [A2C-FRM-25]", async () => {
    const all = await stored();
    expect(linesOf([await auditor.ask({ type: "log", after: 0 })])).toEqual(all);
    expect(await auditor.ask({ type: "log", after: 2, limit: 3 })).toMatchObject({ entries: all.slice(2, 5), next: 5 });
    expect(linesOf(await readAll(auditor, { limit: 1 }))).toEqual(all);
    const end = { type: "entries", id: expect.any(String) as string, entries: [] };
    expect(await auditor.ask({ type: "log", after: all.length })).toMatchObject(end);
    expect(await auditor.ask({ type: "log", after: all.length + 9 })).toMatchObject(end);
  });

  it("keeps pages within 48 KiB, texts included, and loses none [A2C-FRM-19] [A2C-FRM-26]", async () => {
    await longStory(150);
    const pages = await readAll(reader);
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.filter((page) => bytesOf(page) > PAGE_BYTES)).toEqual([]);
    expect(linesOf(pages)).toEqual(await stored());
    expect(textsOf(pages)).toEqual((await store.read(0, store.size())).texts);
    const bare = await readAll(auditor);
    expect(bare.filter((page) => bytesOf(page) > PAGE_BYTES || "texts" in page)).toEqual([]);
    expect(linesOf(bare)).toEqual(await stored());
  });

  it("narrows to the entries that name a worker or a correction [A2C-FRM-28]", async () => {
    const other = await local.worker("w-2");
    const theirs = await publish(other);
    const one = await admit(orch, "w-1", digest, "one");
    await admit(orch, "w-2", theirs, "two");
    await worker.ask({ type: "ack", correction_id: one, status_digest: digest });
    const kinds = async (fields: object): Promise<unknown[]> =>
      linesOf(await readAll(reader, { ...fields })).map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(await kinds({ worker_id: "w-1" })).toEqual(["session_opened", "status", "admitted", "delivered", "acked"]);
    expect(await kinds({ correction_id: one })).toEqual(["admitted", "delivered", "acked"]);
    expect(await kinds({ worker_id: "w-2", correction_id: one })).toEqual([]);
    const pages = await readAll(reader, { worker_id: "w-2" });
    expect(textsOf(pages).map(({ utf8 }) => utf8)).toEqual(["read the issue", "two"]);
  });

  it("is for auditors only [A2C-REF-01]", async () => {
    for (const client of [worker, orch]) {
      for (const type of ["log", "follow"]) {
        expect(await client.ask({ type, after: 0 })).toMatchObject({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
      }
    }
  });
});

describe("follow", () => {
  it("replies once, then pushes entries as they come [A2C-FRM-27] [A2C-FRM-07]", async () => {
    const first = await reader.ask({ type: "follow", after: 1 });
    const size = store.size();
    expect(first).toMatchObject({ next: size });
    await publish(worker, "moved on");
    await turn();
    await publish(worker, "and on");
    await turn();
    const pushes = reader.pushes("entries");
    expect([...linesOf([first]), ...linesOf(pushes)]).toEqual((await stored()).slice(1));
    expect(textsOf(pushes).map(({ utf8 }) => utf8)).toEqual(["moved on", "and on"]);
    expect(pushes.map(({ next }) => next)).toEqual([size + 1, size + 2]);
  });

  it("catches up where one page was not enough, and misses nothing [A2C-FRM-27] [A2C-FRM-19]", async () => {
    await longStory(150);
    await reader.ask({ type: "follow", after: 0 });
    await turn();
    await publish(worker, "the last one");
    await turn();
    const frames = reader.frames.filter(({ type }) => type === "entries");
    expect(linesOf(frames)).toEqual(await stored());
    expect(frames.filter((frame) => bytesOf(frame) > PAGE_BYTES)).toEqual([]);
  });

  it("goes at the pace of its reader, whom nothing cuts [A2C-CUR-06]", async () => {
    await auditor.ask({ type: "follow", after: 0 });
    auditor.unread = 300_000;
    const before = auditor.pushes("entries").length;
    await longStory(150);
    await turn();
    expect(auditor.pushes("entries")).toHaveLength(before);
    auditor.drain();
    await turn();
    expect(auditor.closedWith).toBeUndefined();
    expect(linesOf(auditor.frames.filter(({ type }) => type === "entries"))).toEqual(await stored());
  });

  it("shows nothing that is not acknowledged when its reader is ready again [A2C-ANS-01] [A2C-FRM-27]", async () => {
    const slow = new SlowStore(() => 5);
    const other = await LocalBroker.open({ store: slow });
    const [w, follower] = [await other.worker("w-1"), await other.auditor("auditor")];
    await follower.ask({ type: "follow", after: 0 });
    follower.unread = 300_000;
    await publish(w, "acknowledged");
    w.tell(statusOf("shown early"));
    await until(() => slow.size() > slow.acknowledged);
    follower.drain();
    await turn();
    expect(slow.size()).toBeGreaterThan(slow.acknowledged);
    expect(follower.pushes("entries").at(-1)).toMatchObject({ next: slow.acknowledged });
    await other.stop();
  });

  it("narrows like log, and a second one replaces the first [A2C-FRM-28]", async () => {
    await auditor.ask({ type: "follow", after: 0, worker_id: "w-1" });
    await publish(await local.worker("w-2"));
    await turn();
    expect(auditor.pushes("entries")).toEqual([]);
    auditor.unread = 300_000;
    await publish(worker, "waits for the reader");
    await turn();
    await auditor.ask({ type: "follow", after: store.size(), worker_id: "w-2" });
    auditor.drain();
    await publish(worker, "moved on");
    await turn();
    expect(auditor.pushes("entries")).toEqual([]);
  });
});

describe("answers", () => {
  it("carry the index of the entry that they rest on [A2C-ANS-09]", async () => {
    const receipt = await orch.ask(correctionOf("w-1", digest, "Keep the names."));
    const { correction_id } = receipt;
    const acked = await worker.ask({
      type: "ack",
      correction_id,
      status_digest: digest,
      next_action: { summary: "keep the names", reflects: [correction_id] },
    });
    const [outcome] = acked["outcomes"] as Frame[];
    const refused = await orch.ask(correctionOf("w-1", digest, "Too late."));
    const lines = await stored();
    const kindAt = (index: unknown): unknown => (JSON.parse(lines[index as number] as string) as Frame)["kind"];
    expect([receipt, acked, outcome, refused].map((answer) => kindAt(answer?.["index"]))).toEqual([
      "admitted",
      "witnessed",
      "witnessed",
      "refused",
    ]);
  });

  it("to ping are pong, before and after a refusal: the session goes on [A2C-FRM-29] [A2C-ADM-13]", async () => {
    for (const client of [worker, orch, auditor]) {
      expect(await client.ask({ type: "ping" })).toEqual({ type: "pong", id: expect.any(String) as string });
      await client.ask(correctionOf("w-1", "sha256:stale", "Refused, for one reason or another."));
      expect(client.closedWith).toBeUndefined();
      expect(await client.ask({ type: "ping" })).toMatchObject({ type: "pong" });
    }
    expect(orch.frames.at(-2)).toMatchObject({ type: "receipt", verdict: "DENY" });
    expect(worker.frames.at(-2)).toMatchObject({ type: "receipt", verdict: "DENY", reason: "DEFAULT_DENY" });
  });
});
