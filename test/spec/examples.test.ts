import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { jsonCodec } from "../../src/codec/json.js";
import {
  LIMITS,
  PUSHES,
  REPLIES,
  correctionContent,
  correctionId,
  isOpen,
  parseRequest,
  statusDigest,
  workerStatus,
  type Stage,
  type WorkerStatus,
} from "../../src/protocol/index.js";
import { examplesOf, groupBy, readProtocol, type ExampleFrame } from "../support/spec-document.js";

type Frame = Readonly<Record<string, unknown>> & { type: string; id?: string };

/** The id key of the examples, as section 10 says. */
const ID_KEY = new Uint8Array(32);

const examples = examplesOf(readProtocol()).map((line) => ({ ...line, frame: JSON.parse(line.json) as Frame }));
type Example = (typeof examples)[number];
const sessions = groupBy(examples, ({ session }) => session);
const at = ({ line }: ExampleFrame): string => `PROTOCOL.md:${line}`;

/** Every row in a frame with the digest beside it, if there is one. */
function rowsOf(value: unknown): { row: WorkerStatus; digest: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  const found = Object.values(value).flatMap(rowsOf);
  const { row, status_digest, current } = value as {
    row?: WorkerStatus;
    status_digest?: unknown;
    current?: WorkerStatus;
  };
  if (row !== undefined) found.push({ row, digest: status_digest });
  if (current !== undefined) found.push({ row: current, digest: undefined });
  return found;
}

function sent(frames: readonly Example[], type: string): Example[] {
  return frames.filter(({ frame, direction }) => frame.type === type && direction === "to broker");
}

describe("the example sessions", () => {
  it("are numbered from 1 and show at least five stories", () => {
    const numbers = [...sessions.keys()];
    expect(numbers.length).toBeGreaterThanOrEqual(5);
    expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
  });

  it("send requests that the codec and the schemas accept", () => {
    const requests = examples.filter(({ direction }) => direction === "to broker");
    expect(new Set(requests.map(({ frame }) => frame.type)).size).toBeGreaterThan(5);
    for (const example of requests) {
      const decoded = jsonCodec.decode(Buffer.from(example.json));
      if (!decoded.ok) throw new Error(`${at(example)} is no frame`);
      expect(parseRequest(decoded.value, decoded.fault), at(example)).toMatchObject({ kind: "request" });
    }
  });

  it("receive replies and pushes that the schemas accept", () => {
    const received = examples.filter(({ direction }) => direction === "from broker");
    expect(new Set(received.map(({ frame }) => frame.type)).size).toBeGreaterThan(5);
    for (const example of received) {
      const { type, id } = example.frame;
      const table: Readonly<Record<string, z.ZodType>> = id === undefined ? PUSHES : REPLIES;
      expect(table[type]?.safeParse(example.frame), at(example)).toMatchObject({ success: true });
    }
  });

  it("answer requests of the same connection, each once", () => {
    const asked = (example: Example): string => `${example.session} ${example.peer} ${example.frame.id}`;
    const requests = examples.filter(({ direction }) => direction === "to broker");
    const replies = examples.filter(({ direction, frame }) => direction === "from broker" && frame.id !== undefined);
    expect(new Set(requests.map(asked)).size).toBe(requests.length);
    expect(new Set(replies.map(asked)).size).toBe(replies.length);
    for (const reply of replies) {
      expect(requests.filter(({ line }) => line < reply.line).map(asked), at(reply)).toContain(asked(reply));
    }
    const answered = new Set(replies.map(asked));
    // The answer that the third story loses.
    expect(requests.map(asked).filter((request) => !answered.has(request))).toEqual(["3 O1 3"]);
  });

  it("show rows with the digests that are theirs", () => {
    const rows = examples.flatMap((example) => rowsOf(example.frame).map((found) => ({ ...found, example })));
    expect(rows.filter(({ digest }) => digest !== undefined).length).toBeGreaterThan(5);
    for (const { row, digest, example } of rows) {
      expect(workerStatus.safeParse(row), at(example)).toMatchObject({ success: true });
      expect(digest ?? statusDigest(row), at(example)).toBe(statusDigest(row));
    }
  });

  it("cite only digests of rows that were shown before", () => {
    const shownBefore = ({ session, line }: Example): string[] =>
      examples
        .filter((other) => other.session === session && other.line < line)
        .flatMap(({ frame }) => rowsOf(frame).map(({ row }) => statusDigest(row)));
    const citing = ["correct", "ack", "decline"].flatMap((type) => sent(examples, type));
    expect(citing.length).toBeGreaterThan(5);
    for (const example of citing) expect(shownBefore(example), at(example)).toContain(example.frame["status_digest"]);
  });

  it("name corrections by the ids that their fields have under the key of the examples", () => {
    for (const frames of sessions.values()) {
      const known = new Set<unknown>();
      for (const { frame } of sent(frames, "correct")) {
        const { type: _type, id: _id, ...content } = frame;
        known.add(correctionId(ID_KEY, correctionContent.parse(content), "lead"));
      }
      for (const example of frames) {
        for (const id of example.json.match(/corr_[0-9a-f]{32}/g) ?? []) expect([...known], at(example)).toContain(id);
      }
      expect(known.size).toBeGreaterThan(0);
    }
  });

  it("tell the stages of a correction in order, with indices that rise, and one end", () => {
    for (const frames of sessions.values()) {
      const pushes = frames.filter(
        ({ frame, peer }) => frame.type === "stage" && frame.id === undefined && peer.startsWith("O"),
      );
      for (const told of groupBy(pushes, ({ frame }) => frame["correction_id"]).values()) {
        const indices = told.map(({ frame }) => Number(frame["index"]));
        expect(indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
        const stages = told.map(({ frame }) => frame["stage"] as Stage);
        expect(stages.slice(0, -1).every(isOpen)).toBe(true);
      }
    }
  });

  it("welcome with the limits of the protocol", () => {
    const welcomes = examples.filter(({ frame }) => frame.type === "welcome");
    expect(welcomes).not.toEqual([]);
    for (const { frame } of welcomes) expect(frame["limits"]).toEqual(LIMITS);
  });
});

describe("examplesOf", () => {
  it("refuses a line that is neither a frame nor a comment", () => {
    const document = (line: string): string => `### 10.1 A story\n\n\`\`\`text\n${line}\n\`\`\`\n`;
    expect(examplesOf(document(`O> {"type":"ping"}`))).toHaveLength(1);
    expect(examplesOf(document("# a comment"))).toEqual([]);
    expect(() => examplesOf(document(`O {"type":"ping"}`))).toThrow("PROTOCOL.md:4 is neither");
  });
});
