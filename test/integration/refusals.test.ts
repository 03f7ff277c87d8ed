import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import type { Connection, Outgoing, Peer } from "../../src/broker/index.js";
import { REASONS, parseRequest, type Parsed } from "../../src/protocol/index.js";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { correctionOf, publish } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";

const UNKNOWN = `corr_${"0".repeat(32)}`;

let store: MemoryStore;
let local: LocalBroker;

beforeEach(async () => {
  store = new MemoryStore();
  local = await LocalBroker.open({ store, limits: { frames_per_second: 1e6, frames_burst: 1e6 } });
});
afterEach(() => local.stop());

interface Entry extends Record<string, unknown> {
  kind: string;
}

async function entries(): Promise<Entry[]> {
  const page = await store.read(0, store.size());
  return page.entries.map((line) => JSON.parse(line) as Entry);
}
const ofKind = async (kind: string): Promise<Entry[]> => (await entries()).filter((entry) => entry.kind === kind);

/** Bytes of the log, texts included. */
async function logBytes(): Promise<number> {
  const page = await store.read(0, store.size());
  return [...page.entries, ...page.texts.map((text) => JSON.stringify(text))].join("\n").length;
}

/** A peer that only counts what it is told. */
class Counter implements Peer {
  readonly buffered = 0;
  readonly single: Record<string, number> = {};
  readonly folded: Record<string, number> = {};
  readonly connection: Connection;

  constructor(token: string, hello: Record<string, unknown>) {
    this.connection = local.broker.connect(this);
    this.connection.receive(parseRequest({ type: "hello", id: "1", token, ...hello }));
  }

  send({ frame }: Outgoing): void {
    if (!("reason" in frame) || frame.reason === undefined) return;
    const counts = "folded" in frame && frame.folded === true ? this.folded : this.single;
    counts[frame.reason] = (counts[frame.reason] ?? 0) + 1;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}
}

function add(into: Record<string, number>, counts: Readonly<Record<string, number>>): Record<string, number> {
  for (const [reason, count] of Object.entries(counts)) into[reason] = (into[reason] ?? 0) + count;
  return into;
}

describe("100,000 bad requests", () => {
  it("grow the log by less than 200 KiB, and each is counted once [A2C-LIM-01] [A2C-LIM-03] [A2C-REF-10]", async () => {
    const worker = await local.worker("w-1");
    const digest = await publish(worker);
    const counters = [
      new Counter(await local.workerToken("w-1"), { role: "worker", worker_id: "w-1" }),
      new Counter(await local.orchestratorToken("one"), { role: "orchestrator" }),
      new Counter(await local.orchestratorToken("two"), { role: "orchestrator" }),
    ];
    await turn();
    const bad: Parsed[] = [
      { type: "stage", correction_id: UNKNOWN },
      { type: "receive", correction_id: UNKNOWN },
      correctionOf("w-1", digest, "x".repeat(1_025)),
      correctionOf("w-1", "sha256:stale", "Too late."),
      correctionOf("w-2", digest, "No such worker."),
      { ...correctionOf("w-1", digest, "Not yours."), orchestrator_id: "three" },
      { type: "list", limit: 0 },
      { type: "progress" },
    ].map((frame) => parseRequest({ ...frame, id: "1" }));
    const [before, size] = [await logBytes(), store.size()];

    for (let count = 0; count < 100_000; count += 1) {
      if (count % 10 === 0) local.clock.advance(1);
      counters[count % 3]?.connection.receive(bad[count % bad.length] as Parsed);
    }
    while (local.broker.stats().waiting > 0) await turn();
    local.clock.advance(20_000);
    await turn();

    expect((await logBytes()) - before).toBeLessThan(200 * 1_024);
    const added = (await entries()).slice(size);
    expect(new Set(added.map(({ kind }) => kind))).toEqual(new Set(["refused", "refusals_folded"]));
    const told: Record<string, number> = {};
    for (const { single, folded } of counters) add(add(told, single), folded);
    expect(Object.keys(told).filter((reason) => !(REASONS as readonly string[]).includes(reason))).toEqual([]);
    expect(Object.values(told).reduce((sum, count) => sum + count, 0)).toBe(100_000);
    const logged: Record<string, number> = {};
    for (const entry of added) {
      add(logged, entry.kind === "refused" ? { [String(entry["reason"])]: 1 } : (entry["counts"] as typeof logged));
    }
    expect(logged).toEqual(told);
  }, 120_000);
});

describe("the bucket of single refusals", () => {
  let orch: LocalClient;
  beforeEach(async () => {
    orch = await local.orchestrator("orch");
  });
  const refused = (): Promise<Frame> => orch.ask({ type: "stage", correction_id: UNKNOWN });

  async function useUp(): Promise<void> {
    for (let count = 0; count < 100; count += 1) expect(await refused()).not.toHaveProperty("folded");
  }

  it("holds 100, and one more each 20 s [A2C-LIM-02] [A2C-LIM-04]", async () => {
    await useUp();
    expect(await refused()).toMatchObject({ type: "refusal", reason: "DEFAULT_DENY", folded: true });
    local.clock.advance(20_000);
    expect(await refused()).not.toHaveProperty("folded");
    expect(await refused()).toHaveProperty("folded", true);
    local.clock.advance(60_000);
    for (let count = 0; count < 3; count += 1) expect(await refused()).not.toHaveProperty("folded");
    expect(await refused()).toHaveProperty("folded", true);
    local.clock.advance(20_000);
    expect(await ofKind("refused")).toHaveLength(104);
  });

  it("is each principal's own [A2C-LIM-02]", async () => {
    await useUp();
    expect(await refused()).toHaveProperty("folded");
    const other = await local.orchestrator("other");
    expect(await other.ask({ type: "stage", correction_id: UNKNOWN })).not.toHaveProperty("folded");
  });

  it("folds into one entry a principal each 20 s, with counts and times, and what is left at the stop [A2C-LIM-03] [A2C-LIM-01]", async () => {
    const other = await local.orchestrator("other");
    await useUp();
    for (let count = 0; count < 100; count += 1) await other.ask({ type: "list", limit: 0 });
    const first = local.clock.now();
    await refused();
    local.clock.advance(5_000);
    await refused();
    await orch.ask({ type: "list", limit: 0 });
    await other.ask({ type: "list", limit: 0 });
    expect(await ofKind("refusals_folded")).toEqual([]);
    local.clock.advance(15_000);
    await turn();
    expect(await ofKind("refusals_folded")).toMatchObject([
      {
        by: { role: "broker" },
        role: "orchestrator",
        subject: "orch",
        counts: { DEFAULT_DENY: 2, MALFORMED: 1 },
        first_at: first,
        last_at: first + 5_000,
      },
      { subject: "other", counts: { MALFORMED: 1 } },
    ]);
    await refused();
    await refused();
    await local.broker.stop();
    expect((await ofKind("refusals_folded")).slice(2)).toMatchObject([
      { subject: "orch", counts: { DEFAULT_DENY: 1 } },
    ]);
  });

  it("leaves a folded receipt without an index, and a single one with the index of its entry [A2C-LIM-04] [A2C-ADM-35] [A2C-ADM-40]", async () => {
    const frame = correctionOf("w-1", "sha256:none", "Anybody there?");
    const single = await orch.ask(frame);
    expect(single).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "NO_ROW", bytes: 14 });
    expect((await entries())[single["index"] as number]).toMatchObject({ kind: "refused", detail: "NO_ROW" });
    for (let count = 1; count < 100; count += 1) await refused();
    const folded = await orch.ask(frame);
    expect(folded).toMatchObject({ verdict: "DENY", folded: true, bytes: 14 });
    expect(folded).not.toHaveProperty("index");
  });
});

describe("the text of a refused correction", () => {
  it("is kept up to 1,024 bytes, committed to beyond them, and in no entry [A2C-LIM-06] [A2C-LIM-07]", async () => {
    const orch = await local.orchestrator("orch");
    const [kept, gone] = ["short".repeat(2), "long".repeat(300)];
    await orch.ask(correctionOf("w-1", "sha256:none", kept));
    await orch.ask(correctionOf("w-1", "sha256:none", gone));
    await orch.ask({ ...correctionOf("w-1", "sha256:none", gone), limit: 1 });
    const page = await store.read(0, store.size());
    expect(page.texts.map(({ utf8 }) => utf8)).toEqual([kept]);
    expect(page.entries.join("")).not.toMatch(/shortshort|longlong/);
    const messages = (await ofKind("refused")).map(({ content }) => (content as { message: object }).message);
    const commitment = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(messages).toEqual([10, 1_200, 1_200].map((bytes) => ({ bytes, commitment })));
  });
});
