import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exportedLines } from "../../src/cli/audit/exported-lines.js";
import { Verifier } from "../../src/cli/audit/verifier.js";
import type { KernelEvent } from "../../src/kernel/index.js";
import { projectRoot } from "../support/source-files.js";

const folder = join(projectRoot, "spec", "logs");
const logs = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

/** Every kind of entry: the type makes this list whole. */
const KINDS: Record<KernelEvent["kind"], true> = {
  log_opened: true,
  broker_started: true,
  broker_stopped: true,
  grant_added: true,
  grant_revoked: true,
  session_opened: true,
  status: true,
  admitted: true,
  refused: true,
  refusals_folded: true,
  delivered: true,
  acked: true,
  planned: true,
  witnessed: true,
  unreflected: true,
  declined: true,
  expired: true,
  withdrawn: true,
  superseded: true,
  stale: true,
  orphaned: true,
  revoked: true,
  late_ack: true,
  redacted: true,
};

describe("the recorded logs", () => {
  it("are there", () => {
    expect(logs).toContain("0001.jsonl");
  });

  it.each(logs)("%s is what the rules of today make of it, with every text, under its signature", async (name) => {
    const path = join(folder, name);
    const note = readFileSync(`${path}.checkpoint`, "utf8");
    const verifier = new Verifier({ texts: "whole", checkpoints: [{ name: "checkpoint", note }] });
    for await (const entry of exportedLines(createReadStream(path) as AsyncIterable<Uint8Array>)) verifier.take(entry);
    const { difference, size, agreed } = verifier.end();
    expect(difference).toBeUndefined();
    expect(agreed).toEqual([{ name: "checkpoint", size }]);
  });

  it("tell of every kind of entry, every cause of a row, and every detail of an end", () => {
    const lines = readFileSync(join(folder, "0001.jsonl"), "utf8").split("\n");
    const entries = lines
      .filter((line) => line.startsWith('{"at":'))
      .map((line) => JSON.parse(line) as { kind: string; cause?: string; detail?: string });
    const all = (pick: (entry: (typeof entries)[number]) => string | undefined): string[] =>
      [...new Set(entries.map(pick).filter((value) => value !== undefined))].sort();
    expect(all(({ kind }) => kind)).toEqual(Object.keys(KINDS).sort());
    expect(all(({ cause }) => cause)).toEqual(["ended", "lease_lapsed", "published", "restart"]);
    expect(all(({ kind, detail }) => (kind === "refused" ? undefined : detail))).toEqual([
      "DIGEST_MOVED",
      "RUN_CHANGED",
      "WINDOW",
    ]);
  });
});
