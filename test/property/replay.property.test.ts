import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeEntry, type EncodedEntry } from "../../src/kernel/index.js";
import { readEntry } from "../../src/kernel/entries.js";
import { Replay, type Difference } from "../../src/kernel/replay.js";
import { actions, Player, setUp, type Action } from "../support/kernel-actions.js";
import { Invariants } from "../support/invariants.js";
import type { Lie, LoggedEntry } from "../support/lies.js";
import { lineOf } from "../support/mangled-log.js";
import { ID_KEY, TestKernel } from "../support/kernel.js";

const SEED = 20_261_130;
const RUNS = 200;

/** The log of one story, to its last end. */
function logOf(story: readonly Action[]): EncodedEntry[] {
  const kernel = new TestKernel();
  const invariants = new Invariants(ID_KEY);
  const player = new Player(kernel, invariants.book);
  const lines = kernel.events.map((event, index) => encodeEntry(event, index));
  invariants.step(kernel.events, 0, kernel.now);
  kernel.observer = (command, { events, own, workerEntries }) => {
    invariants.step(events, own, command.now);
    for (const [at, event] of events.entries()) lines.push(encodeEntry(event, lines.length, workerEntries[at]));
  };
  setUp(kernel);
  for (const action of story) if (action.verb !== "restart") player.play(action);
  kernel.now += 7_200_000;
  kernel.tick();
  return lines;
}

function replay(entries: readonly EncodedEntry[], withTexts: boolean): { difference?: Difference; counted: number } {
  const one = new Replay();
  for (const { line, texts } of entries) one.take(line, readEntry(line, withTexts ? texts : []));
  const difference = one.end();
  const { redecided, attested } = one.counts;
  attested.delete("status_digest");
  const counted = [...redecided.values(), ...attested.values()].reduce((sum, count) => sum + count, 0);
  return { counted, ...(difference !== undefined && { difference }) };
}

/** Lies about one entry, each with the entries that it can be told about. */
const LIES: Record<string, Lie> = {
  "another reason": (entry) =>
    entry.kind === "refused" && entry["reason"] !== "MALFORMED"
      ? { ...entry, reason: entry["reason"] === "UNWITNESSED" ? "TRUST_VIOLATION" : "UNWITNESSED" }
      : undefined,
  "another detail": (entry) => (entry["detail"] === undefined ? undefined : { ...entry, detail: "LIE" }),
  "witnessed for unreflected": (entry) => (entry.kind === "unreflected" ? { ...entry, kind: "witnessed" } : undefined),
  "unreflected for witnessed": (entry) => (entry.kind === "witnessed" ? { ...entry, kind: "unreflected" } : undefined),
  "withdrawn for expired": (entry) => (entry.kind === "expired" ? { ...entry, kind: "withdrawn" } : undefined),
  "acked for delivered": (entry) => (entry.kind === "delivered" ? { ...entry, kind: "acked" } : undefined),
  "another digest": (entry) =>
    entry.kind === "status" ? { ...entry, status_digest: `sha256:${"0".repeat(64)}` } : undefined,
  "another digest cited": (entry) =>
    entry.kind === "admitted"
      ? { ...entry, content: { ...(entry["content"] as object), status_digest: `sha256:${"0".repeat(64)}` } }
      : undefined,
  "a later seq": (entry) => (typeof entry["seq"] === "number" ? { ...entry, seq: entry["seq"] + 1 } : undefined),
  "a longer window": (entry) =>
    entry.kind === "admitted" || entry.kind === "acked"
      ? { ...entry, expires_at: (entry["expires_at"] as number) + 1 }
      : undefined,
  "another attempt": (entry) => (entry.kind === "delivered" ? { ...entry, attempt: 9 } : undefined),
  "a fresh context": (entry) =>
    entry.kind === "delivered" ? { ...entry, stale_context: !(entry["stale_context"] as boolean) } : undefined,
  "a redelivery": (entry) =>
    entry.kind === "delivered" ? { ...entry, redelivered: !(entry["redelivered"] as boolean) } : undefined,
  "an echo": (entry) => {
    if (entry.kind !== "planned" && entry.kind !== "witnessed") return undefined;
    const { echo, ...rest } = entry;
    return echo === undefined ? { ...rest, echo: true } : rest;
  },
  "a reflection": (entry) =>
    entry.kind === "planned" ? { ...entry, reflects: [`corr_${"dead".repeat(8)}`] } : undefined,
  "another worker's place": (entry) =>
    entry["worker_entry"] === undefined ? undefined : { ...entry, worker_entry: (entry["worker_entry"] as number) + 1 },
  "another sender": (entry) => (entry.kind === "admitted" ? { ...entry, orchestrator_id: "somebody" } : undefined),
  "another token": (entry) => {
    const by = entry["by"] as { role: string; token?: string };
    return by.token === undefined || entry.kind === "refused" ? undefined : { ...entry, by: { ...by, token: "none" } };
  },
  "an earlier time": (entry) => (entry.kind === "log_opened" ? undefined : { ...entry, at: 1 }),
  "one field more": (entry) => ({ ...entry, zz: 1 }),
};

describe("replay", () => {
  it("names the entry of every lie", { timeout: 120_000 }, () => {
    const told = new Map(Object.keys(LIES).map((name) => [name, 0]));
    fc.assert(
      fc.property(actions, (story) => {
        const lines = logOf(story);
        for (const [name, lie] of Object.entries(LIES)) {
          for (const [index, { line, texts }] of lines.entries()) {
            const false_ = lie(JSON.parse(line) as LoggedEntry);
            if (false_ === undefined || told.get(name) === 30) continue;
            told.set(name, (told.get(name) ?? 0) + 1);
            const forged = lines.with(index, { line: lineOf(false_), texts });
            const { difference } = replay(forged, true);
            expect(difference?.index, `${name}: ${line}`).toBe(index);
          }
        }
      }),
      { seed: SEED, numRuns: 40, endOnFailure: true },
    );
    expect([...told].filter(([, times]) => times < 5)).toEqual([]);
  });

  it("comes to every entry of any story again when some of its texts have been redacted", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(actions, fc.nat({ max: 3 }), (story, which) => {
        const lines = logOf(story);
        // Every line of a text goes, or none: the same text lies with the plan and with the row that it made.
        const left = lines.map(({ line, texts }) => ({
          line,
          texts: texts.filter(({ utf8 }) => utf8.length % 4 !== which),
        }));
        expect(replay(left, true)).toEqual({ counted: lines.length });
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it("comes to every entry of any story again, with its texts and without them", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(actions, (story) => {
        const lines = logOf(story);
        expect(replay(lines, true)).toEqual({ counted: lines.length });
        expect(replay(lines, false)).toEqual({ counted: lines.length });
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});
