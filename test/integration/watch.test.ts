import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { LocalBroker, turn, until, type LocalClient } from "../support/local.js";
import { admit, publish, statusOf } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";

const PAGE_BYTES = 49_152;
/** More than a socket may hold unread before rows wait: a quarter of what cuts a session. */
const FULL = 70_000;
const LONG = "\u201c".repeat(165);

let local: LocalBroker;
let watcher: LocalClient;

beforeEach(async () => {
  local = await LocalBroker.open({ store: new MemoryStore() });
  watcher = await local.orchestrator("watcher");
});
afterEach(() => local.stop());

type View = Record<string, unknown> & { row: Record<string, unknown> };
const viewsOf = (frames: readonly Frame[]): View[] => frames.flatMap(({ rows }) => rows as View[]);
const idOf = ({ row }: View): string => row["worker_id"] as string;

/** So many workers, each with a row of about a kilobyte, in no order. */
async function fleet(count: number): Promise<LocalClient[]> {
  const workers = [];
  for (let at = 0; at < count; at += 1) {
    const worker = await local.worker(`w-${(at * 7) % count}`);
    await publish(worker, `${LONG} ${at}`);
    workers.push(worker);
  }
  return workers;
}

const rowsOf = (client: LocalClient, id: string): Frame[] =>
  client.frames.filter((frame) => frame["id"] === id && frame.type === "rows");
const last = (client: LocalClient): Frame | undefined => client.pushes("row").at(-1);

async function listAll(client: LocalClient, fields: Record<string, unknown> = {}): Promise<Frame[]> {
  const pages = [];
  let after: unknown;
  do {
    const page = await client.ask({ type: "list", ...fields, ...(after !== undefined && { after }) });
    pages.push(page);
    after = page["next"];
  } while (after !== undefined);
  return pages;
}

describe("the snapshot of a watch", () => {
  it("comes in pages of at most 48 KiB, from one state, the last with cursor and done [A2C-FRM-19] [A2C-FRM-20] [A2C-CUR-01]", async () => {
    await fleet(300);
    const id = watcher.tell({ type: "watch" });
    await until(() => rowsOf(watcher, id).at(-1)?.["done"] === true);
    const pages = rowsOf(watcher, id);
    expect(pages.length).toBeGreaterThan(3);
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(PAGE_BYTES);
    expect(pages.map(({ done }) => done)).toEqual([...pages.slice(1).map(() => undefined), true]);
    expect(pages.filter(({ cursor }) => cursor !== undefined)).toEqual(pages.slice(-1));
    const views = viewsOf(pages);
    expect(views).toEqual(viewsOf(await listAll(watcher)));
    expect(views.map(idOf)).toEqual(Array.from({ length: 300 }, (_, at) => `w-${at}`).toSorted());
  });

  it("is fed as the socket drains; what changes meanwhile comes after it, and not in it [A2C-CUR-06] [A2C-FRM-21]", async () => {
    const workers = await fleet(300);
    watcher.stall();
    const id = watcher.tell({ type: "watch" });
    await turn();
    const before = rowsOf(watcher, id).length;
    expect(before).toBeLessThan(3);
    for (const worker of [workers[0], workers[299]]) await publish(worker as LocalClient, "changed meanwhile");
    await publish(workers[0] as LocalClient, "changed twice");
    expect(watcher.pushes("row")).toEqual([]);
    while (rowsOf(watcher, id).at(-1)?.["done"] !== true) {
      watcher.drain(true);
      await turn();
    }
    watcher.drain();
    await turn();
    expect(viewsOf(rowsOf(watcher, id)).filter(({ row }) => row["seq"] !== 1)).toEqual([]);
    expect(watcher.pushes("row").map(({ row }) => (row as View["row"])["last_action"])).toEqual([
      "changed meanwhile",
      "changed twice",
    ]);
    expect(watcher.frames.at(-2)?.type).toBe("row");
    expect(watcher.closedWith).toBeUndefined();
  });

  it("of nothing is one empty page", async () => {
    expect(await watcher.ask({ type: "watch" })).toEqual({
      type: "rows",
      id: expect.any(String),
      rows: [],
      cursor: expect.any(String),
      done: true,
    });
  });
});

describe("a watch", () => {
  let worker: LocalClient;
  beforeEach(async () => {
    worker = await local.worker("w-1");
    await publish(worker);
  });

  it("pushes each view that changes: row, pending, inbox and liveness [A2C-FRM-21]", async () => {
    await watcher.ask({ type: "watch" });
    const digest = await publish(worker, "moved on");
    expect(last(watcher)).toMatchObject({ status_digest: digest, pending: 0, inbox: "open", liveness: "live" });
    expect(last(watcher)).not.toHaveProperty("id");
    const id = await admit(watcher, "w-1", digest, "Keep the names.");
    expect(last(watcher)).toMatchObject({ pending: 1 });
    await worker.ask({ type: "decline", correction_id: id, status_digest: digest, reason: "No." });
    expect(last(watcher)).toMatchObject({ pending: 0 });
    await worker.ask({ type: "inbox", open: false });
    await turn();
    expect(last(watcher)).toMatchObject({ inbox: "closed" });
    worker.drop();
    await turn();
    expect(last(watcher)).toMatchObject({ liveness: "suspect" });
    local.clock.advance(60_000);
    await turn();
    expect(last(watcher)).toMatchObject({ liveness: "dead", row: { live: false } });
  });

  it("pushes the latest view only, once per worker, where the socket was full [A2C-FRM-21]", async () => {
    const other = await local.worker("w-2");
    await publish(other);
    await watcher.ask({ type: "watch" });
    watcher.unread = FULL;
    for (let step = 1; step <= 5; step += 1) {
      await publish(worker, `step ${step}`);
      await publish(other, `step ${step}`);
    }
    expect(watcher.pushes("row")).toEqual([]);
    watcher.drain();
    await turn();
    const pushes = watcher.pushes("row");
    expect(pushes).toHaveLength(2);
    for (const { type: _type, ...view } of pushes) {
      const { type, id, ...now } = await watcher.ask({ type: "get", worker_id: idOf(view as View) });
      expect([type, id]).toEqual(["row", expect.any(String)]);
      expect(view).toEqual(now);
    }
  });

  it("says gone once for a row that leaves its filter, and shows it when it comes back [A2C-FRM-22]", async () => {
    const shown = await watcher.ask({ type: "watch", filter: { lane: "src/*" } });
    expect(viewsOf([shown])).toHaveLength(1);
    await worker.ask({ ...statusOf("read"), lane: "docs" });
    await worker.ask({ ...statusOf("write"), lane: "docs" });
    expect(watcher.pushes("row")).toEqual([{ type: "row", worker_id: "w-1", gone: true }]);
    await publish(worker, "back again");
    expect(last(watcher)).toMatchObject({ row: { last_action: "back again" } });
  });

  it("says gone for a row that leaves the grant, and nothing of one that was never in it [A2C-FRM-22] [A2C-FRM-15]", async () => {
    const token = await local.token({
      role: "orchestrator",
      subject: "narrow",
      worker: "**",
      issue: "**",
      lane: "src/**",
      watchOnly: true,
    });
    const narrow = await local.hello(token, { role: "orchestrator" });
    const outside = await local.worker("w-2");
    await outside.ask({ ...statusOf("secret"), lane: "secret" });
    expect(viewsOf([await narrow.ask({ type: "watch" })]).map(idOf)).toEqual(["w-1"]);
    await outside.ask({ ...statusOf("still secret"), lane: "secret" });
    await worker.ask({ ...statusOf("read"), lane: "secret" });
    expect(narrow.pushes("row")).toEqual([{ type: "row", worker_id: "w-1", gone: true }]);
    await outside.ask({ ...statusOf("out in the open"), lane: "src/a/b" });
    expect(last(narrow)).toMatchObject({ row: { worker_id: "w-2", last_action: "out in the open" } });
  });

  it("narrows by live", async () => {
    await watcher.ask({ type: "watch", filter: { live: false } });
    await worker.ask({ type: "bye" });
    expect(last(watcher)).toMatchObject({ liveness: "ended" });
    await publish(await local.worker("w-1"), "again");
    expect(last(watcher)).toEqual({ type: "row", worker_id: "w-1", gone: true });
  });

  it("is replaced by a second one, whatever of the first has not left yet [A2C-FRM-23]", async () => {
    await watcher.ask({ type: "watch" });
    watcher.unread = FULL;
    await publish(worker, "waits for the socket");
    const id = watcher.tell({ type: "watch", filter: { worker_id: "w-2" } });
    watcher.drain();
    await turn();
    expect(rowsOf(watcher, id)).toMatchObject([{ rows: [], done: true }]);
    await publish(worker, "is watched no more");
    expect(watcher.pushes("row")).toEqual([]);
    await publish(await local.worker("w-2"));
    expect(watcher.pushes("row")).toHaveLength(1);
  });

  it("ends with unwatch: after its ok no row is pushed [A2C-FRM-24]", async () => {
    await watcher.ask({ type: "watch" });
    watcher.unread = FULL;
    await publish(worker, "waits for the socket");
    expect(await watcher.ask({ type: "unwatch" })).toMatchObject({ type: "ok" });
    watcher.drain();
    await publish(worker, "is watched no more");
    await turn();
    expect(watcher.pushes("row")).toEqual([]);
  });

  it("is not resumed by a later session [A2C-CUR-04]", async () => {
    const token = await local.orchestratorToken("again");
    const first = await local.hello(token, { role: "orchestrator" });
    const { cursor } = await first.ask({ type: "watch" });
    first.drop();
    await publish(worker, "moved on");
    const second = await local.hello(token, { role: "orchestrator", resume_from: cursor });
    await publish(worker, "and on");
    expect([first.pushes("row"), second.pushes("row")]).toEqual([[], []]);
  });
});

describe("list and get", () => {
  it("order by the bytes of worker_id and go on behind after, with next while there is more [A2C-FRM-17]", async () => {
    for (const id of ["b", "a", "B", "a/1", "a-1", "a10", "a2"]) await publish(await local.worker(id));
    const pages = await listAll(watcher, { limit: 3 });
    expect(pages.map((page) => viewsOf([page]).map(idOf))).toEqual([["B", "a", "a-1"], ["a/1", "a10", "a2"], ["b"]]);
    expect(pages.map(({ next }) => next)).toEqual(["a-1", "a2", undefined]);
    expect(viewsOf([await watcher.ask({ type: "list", after: "a0" })]).map(idOf)).toEqual(["a10", "a2", "b"]);
    expect(await watcher.ask({ type: "list", after: "b" })).toEqual({ type: "rows", id: expect.any(String), rows: [] });
  });

  it("cut a page at 48 KiB whatever the limit, and lose nothing [A2C-FRM-19]", async () => {
    await fleet(100);
    const pages = await listAll(watcher, { limit: 1_000 });
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(PAGE_BYTES);
    expect(new Set(viewsOf(pages).map(idOf)).size).toBe(100);
  });

  it("show what filter and grant cover, and answer alike for what is unknown and what is outside [A2C-FRM-15] [A2C-FRM-16] [A2C-FRM-18]", async () => {
    const token = await local.token({ role: "orchestrator", subject: "narrow", worker: "a*", issue: "**", lane: "**" });
    const narrow = await local.hello(token, { role: "orchestrator" });
    for (const id of ["a-1", "a-2", "b-1"]) await publish(await local.worker(id));
    await local.worker("a-3");
    expect(viewsOf(await listAll(narrow)).map(idOf)).toEqual(["a-1", "a-2"]);
    expect(viewsOf(await listAll(narrow, { filter: { worker_id: "*-1" } })).map(idOf)).toEqual(["a-1"]);
    expect(viewsOf(await listAll(narrow, { filter: { live: false } }))).toEqual([]);
    expect(await narrow.ask({ type: "get", worker_id: "a-1" })).toMatchObject({ row: { worker_id: "a-1" } });
    for (const worker_id of ["b-1", "nobody", "a-3"]) {
      expect(await narrow.ask({ type: "get", worker_id })).toEqual({ type: "row", id: expect.any(String) });
    }
  });
});
