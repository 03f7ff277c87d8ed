import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import {
  decodeEntries,
  decodeEntry,
  encodeEntry,
  evolve,
  emptyState,
  readEntry,
  rowView,
} from "../../../src/kernel/index.js";
import type { KernelEvent } from "../../../src/kernel/index.js";
import { admittedId, textOf } from "../../support/kernel.js";
import { correctFrame, running } from "../../support/kernel-scenes.js";

/** A story with every kind of text in it. */
function story(): KernelEvent[] {
  const kernel = running();
  const [a = "", b = "", c = ""] = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
  kernel.frame("orch", correctFrame(kernel, { message: 'caf\u00e9 \u{1F680}\u202e "quoted"\n' }));
  kernel.ack("w-1", a, { summary: "move the fix", reflects: [a], via: "plan" });
  kernel.decline("w-1", b);
  kernel.status("w-1", { last_action: "read the issue", next_action: { summary: "move the fix", reflects: [a] } });
  kernel.status("w-1", { last_action: "moved", next_action: { summary: "move the fix", reflects: [c] }, task_id: "t" });
  kernel.status("w-1", { expect_seq: 1, last_action: "refused", next_action: { summary: "refused too" } });
  kernel.bye();
  kernel.start();
  return kernel.events;
}

describe("an entry", () => {
  it("is one line of RFC 8785 JSON with its index and its place among its worker's entries", () => {
    const kernel = running();
    const step = kernel.revoke("t-other");
    const [event] = step.events as [KernelEvent];
    expect(encodeEntry(event, 7).line).toBe(
      '{"at":1000000,"by":{"role":"operator","subject":"operator"},"index":7,"kind":"grant_revoked","token":"t-other"}',
    );
    expect(encodeEntry(event, 7, 3).line).toBe(
      '{"at":1000000,"by":{"role":"operator","subject":"operator"},"index":7,"kind":"grant_revoked","token":"t-other","worker_entry":3}',
    );
  });

  it("holds a text as size and commitment only, the text beside it [A2C-LIM-07]", () => {
    const kernel = running();
    const [event] = kernel.correct("orch", { message: "Stay." }).events as [KernelEvent];
    const { line, texts } = encodeEntry(event, 9);
    const { commitment, salt } = textOf("message", "Stay.");
    expect(JSON.parse(line)).toHaveProperty("content.message", { bytes: 5, commitment });
    expect(texts).toEqual([{ index: 9, field: "message", salt, utf8: "Stay." }]);
  });

  it("of a row is the row as digested, its schema included", () => {
    const row = story().findLast(({ kind }) => kind === "status");
    expect(row && JSON.parse(encodeEntry(row, 0).line)).toHaveProperty("row.schema", "a2achan.worker-status.v1");
  });

  it("never holds a word of a text, whatever the event [A2C-LIM-07]", () => {
    const lines = story().map((event, index) => encodeEntry(event, index).line);
    const words = ["Stay", "caf", "quoted", "move the fix", "generated", "read the issue", "moved", "refused too"];
    for (const word of words) expect(lines.filter((line) => line.includes(word))).toEqual([]);
  });

  it("equals a general implementation of RFC 8785, and is at most 8 KiB", () => {
    story().forEach((event, index) => {
      const { line } = encodeEntry(event, index, 1);
      expect(line).toBe(canonicalize(JSON.parse(line)));
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8_192);
    });
  });

  it("gives its event back with the texts at hand, except those that an earlier entry brought", () => {
    const events = story();
    events.forEach((event, index) => {
      const { line, texts } = encodeEntry(event, index, 1);
      const back = decodeEntry(line, texts);
      expect(encodeEntry(back, index, 1)).toEqual({ line, texts });
    });
  });

  it("is read back with its own texts from a page of many, wherever the page begins", () => {
    const events = Array.from({ length: 10 }, story).flat();
    const page = events.map((event, at) => encodeEntry(event, 1_000 + at));
    const lines = page.map(({ line }) => line);
    const texts = page.flatMap((entry) => entry.texts);
    expect(lines.length).toBeGreaterThan(200);
    expect([...decodeEntries(lines, 1_000, texts)].flat()).toEqual(
      page.map((entry) => readEntry(entry.line, entry.texts)),
    );
    expect([...decodeEntries([], 1_000, [])]).toEqual([]);
  });

  it("brings a text once: a row that keeps it has only the commitment", () => {
    const lines = story().flatMap((event, index) => encodeEntry(event, index).texts);
    const rows = lines.filter(({ field }) => field === "last_action").map(({ utf8 }) => utf8);
    expect(rows).toEqual(["read the issue", "moved", "refused"]);
  });

  it("lets the rows be rebuilt with their texts", () => {
    const state = emptyState();
    story().forEach((event, index) => {
      const { line, texts } = encodeEntry(event, index, 1);
      evolve(state, decodeEntry(line, texts));
    });
    const worker = state.workers.get("w-1");
    expect(worker && rowView({ ...worker, pending: worker.open.size })?.row).toMatchObject({
      last_action: "moved",
      next_action: { summary: "move the fix" },
      live: false,
    });
  });

  it("without its texts still tells the stages and digests", () => {
    const [whole, bare] = [emptyState(), emptyState()];
    story().forEach((event, index) => {
      const { line, texts } = encodeEntry(event, index, 1);
      evolve(whole, decodeEntry(line, texts));
      evolve(bare, decodeEntry(line, []));
    });
    const told = (state: typeof whole): unknown => [
      [...state.corrections.values()].map(({ id, stage, stageIndex }) => ({ id, stage, stageIndex })),
      state.workers.get("w-1")?.digest,
    ];
    expect(told(bare)).toEqual(told(whole));
    const worker = bare.workers.get("w-1");
    expect(worker && rowView({ ...worker, pending: worker.open.size })).toBeUndefined();
  });
});
