import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore, createBroker } from "../../src/index.js";
import { WrongKeys } from "../../src/broker/index.js";
import { verifyConsistency, verifyInclusion } from "../../src/tlog/index.js";
import { TestBroker } from "../support/broker.js";
import { opened as signed } from "../support/opened.js";
import { leaf, pathOf, proofOf, rootOf } from "../support/rfc6962.js";
import type { Frame, Wire } from "../support/wire.js";

let broker: TestBroker;
let lines: string[];

beforeEach(async () => {
  broker = await TestBroker.start();
});
afterEach(() => broker.stop());

/** Size and root of a proof's checkpoint, after its signature held. */
const opened = (proof: Frame) => signed(proof["checkpoint"], broker.running.broker.logKey);

const status = (task: string): Frame => ({
  type: "status",
  issue: "7",
  task_id: task,
  lane: "src",
  next_action: { summary: `do ${task}` },
});

/** The log's lines and their hashes as an auditor reads them. */
async function readLog(): Promise<Buffer[]> {
  lines = await exactLines();
  return lines.map(leaf);
}

async function exactLines(): Promise<string[]> {
  const auditor = await broker.auditor("reader");
  const all: string[] = [];
  for (;;) {
    const page = (await auditor.ask({ type: "log", after: all.length }))["entries"] as string[];
    if (page.length === 0) return all;
    all.push(...page);
  }
}

const hashesOf = (proof: Frame): string[] => proof["hashes"] as string[];
const bytesOf = (hashes: readonly string[]): Buffer[] => hashes.map((hash) => Buffer.from(hash, "base64"));

describe("a checkpoint", () => {
  it("is signed by the log's key, for every role, and covers what was answered [A2C-PRV-02] [A2C-PRV-03]", async () => {
    const worker = await broker.worker("w-1");
    const orchestrator = await broker.orchestrator("lead");
    const auditor = await broker.auditor("eve");
    await worker.ask(status("one"));
    const covered = (await exactLines()).length;
    for (const wire of [worker, orchestrator, auditor]) {
      const proof = await wire.ask({ type: "checkpoint" });
      expect(Object.keys(proof).sort()).toEqual(["checkpoint", "id", "type"]);
      expect(opened(proof).size).toBeGreaterThanOrEqual(covered);
    }
    const { size, root } = opened(await auditor.ask({ type: "checkpoint" }));
    const leaves = await readLog();
    expect(root).toEqual(rootOf(leaves.slice(0, size)));
  });

  it("is named, with its key, by the first entry of the log", async () => {
    const [first] = await broker.entries();
    expect(first).toMatchObject({ kind: "log_opened", log_key: broker.running.broker.logKey });
    expect(broker.running.broker.logKey.split("+")[0]).toBe(first?.["origin"]);
  });
});

describe("a proof", () => {
  let wire: Wire;
  let leaves: Buffer[];

  beforeEach(async () => {
    const worker = await broker.worker("w-1");
    for (let at = 0; at < 40; at += 1) {
      broker.clock.advance(1_000);
      await worker.ask(status(`t-${at}`));
    }
    wire = await broker.auditor("eve");
    await wire.barrier();
    leaves = await readLog();
  });

  it("of inclusion is the audit path of RFC 6962, for each index [A2C-PRV-04]", async () => {
    for (const index of leaves.keys()) {
      if (index % 40 === 0) broker.clock.advance(10_000);
      const proof = await wire.ask({ type: "prove", index });
      const { size, root } = opened(proof);
      const tree = leaves.slice(0, size);
      expect(proof).toMatchObject({ index, entry: lines[index], hashes: pathOf(index, tree) });
      expect(verifyInclusion(index, size, leaf(String(proof["entry"])), bytesOf(hashesOf(proof)), root)).toBe(true);
    }
  });

  it("of consistency is the one of RFC 6962, from each size [A2C-PRV-05]", async () => {
    for (let from = 0; from <= leaves.length; from += 1) {
      if (from % 40 === 0) broker.clock.advance(10_000);
      const proof = await wire.ask({ type: "prove", from_size: from });
      const { size, root } = opened(proof);
      expect(proof).not.toHaveProperty("entry");
      const hashes = from === 0 ? [] : proofOf(from, leaves.slice(0, size));
      expect(proof).toMatchObject({ from_size: from, hashes });
      // From 0 nothing is to be proved.
      const holds = verifyConsistency(from, size, rootOf(leaves.slice(0, from)), root, bytesOf(hashes));
      expect(holds).toBe(from > 0);
    }
  });

  it("of what the log does not have is a checkpoint without hashes [A2C-PRV-06]", async () => {
    const { size } = opened(await wire.ask({ type: "checkpoint" }));
    for (const beyond of [{ index: size }, { index: 2 ** 53 - 1 }, { from_size: size + 1 }]) {
      const proof = await wire.ask({ type: "prove", ...beyond });
      expect(proof).toEqual({ type: "proof", id: proof["id"], checkpoint: expect.any(String), ...beyond });
      expect(opened(proof).size).toBe(size);
    }
  });
});

describe("the entry's line", () => {
  it("goes to its maker, its worker, its sender and auditors, and to nobody else [A2C-PRV-07]", async () => {
    const wires = {
      auditor: await broker.auditor("eve"),
      worker: await broker.worker("w-1"),
      otherWorker: await broker.worker("w-2"),
      lead: await broker.orchestrator("lead"),
      other: await broker.orchestrator("other"),
      namesake: await broker.orchestrator("w-1"),
    };
    await wires.worker.ask(status("one"));
    const view = await wires.lead.ask({ type: "get", worker_id: "w-1" });
    const receipt = await wires.lead.ask({
      type: "correct",
      worker_id: "w-1",
      issue: "7",
      task_id: "one",
      lane: "src",
      message: "a secret of theirs",
      status_digest: view["status_digest"],
      key: "k-1",
    });
    const push = await wires.worker.push(({ type }) => type === "correction");
    const { correction_id } = push["correction"] as { correction_id: string };
    await wires.worker.ask({ type: "receive", correction_id });
    const denied = await wires.lead.ask({
      type: "correct",
      worker_id: "w-1",
      issue: "7",
      task_id: "one",
      lane: "src",
      message: "no",
      status_digest: "sha256:0",
      key: "k-2",
    });
    expect([receipt["verdict"], denied["verdict"]]).toEqual(["ALLOW", "DENY"]);
    const entries = await broker.entries();
    const readers = async (kind: string): Promise<string[]> => {
      const at = entries.findLastIndex((entry) => entry["kind"] === kind);
      const seen: string[] = [];
      for (const [name, wire] of Object.entries(wires)) {
        const proof = await wire.ask({ type: "prove", index: at });
        expect(proof["hashes"]).toEqual(expect.any(Array));
        if ("entry" in proof) seen.push(name);
      }
      return seen;
    };
    expect(await readers("status")).toEqual(["auditor", "worker"]);
    expect(await readers("admitted")).toEqual(["auditor", "worker", "lead"]);
    expect(await readers("delivered")).toEqual(["auditor", "worker", "lead"]);
    expect(await readers("refused")).toEqual(["auditor", "worker", "lead"]);
    expect(await readers("grant_added")).toEqual(["auditor"]);
    expect(await readers("log_opened")).toEqual(["auditor"]);
  });
});

describe("the keys of a log", () => {
  it.each(["idKey", "logKey"] as const)("refuse another %s at the start [A2C-PRV-10]", async (name) => {
    const store = new MemoryStore();
    const keys = { idKey: new Uint8Array(32).fill(1), logKey: new Uint8Array(32).fill(2) };
    const first = await createBroker({ store, ...keys });
    await first.stop();
    const again = { store, ...keys, [name]: new Uint8Array(32).fill(3) };
    await expect(createBroker(again)).rejects.toBeInstanceOf(WrongKeys);
    const right = await createBroker({ store, ...keys });
    await right.stop();
  });
});
