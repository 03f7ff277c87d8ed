import { describe, expect, it } from "vitest";
import { parseRequest, type Parsed } from "../../../src/protocol/index.js";

const correct = (fields: object = {}): object => ({
  type: "correct",
  id: "r 1",
  worker_id: "w-1",
  issue: "2162",
  lane: "internal/a2achan",
  message: "Stay.",
  ...fields,
});
const status = (fields: object): object => ({ type: "status", id: "r 1", issue: "2162", lane: "cmd", ...fields });
const refusal = (parsed: Parsed): unknown => (parsed.kind === "malformed" ? parsed.malformed.refusal : parsed.kind);

describe("what cannot be answered", () => {
  it.each([
    ["no type", { id: "1" }],
    ["an unknown type", { type: "steer", id: "1" }],
    ["a type of every object", { type: "constructor", id: "1" }],
    ["a type that is no string", { type: ["ping"], id: "1" }],
    ["no id", { type: "ping" }],
    ["an empty id", { type: "ping", id: "" }],
    ["a long id", { type: "ping", id: "x".repeat(65) }],
    ["an id with a newline", { type: "ping", id: "a\n" }],
    ["an id that is no string", { type: "ping", id: 1 }],
    ["a list", ["ping"]],
  ])("is a frame with %s [A2C-FRM-34]", (_, value) => {
    expect(parseRequest(value)).toEqual({ kind: "unknown" });
  });
});

describe("what is still said of a refused frame", () => {
  it("is its type, its id, and worker and message where they are sound", () => {
    expect(parseRequest(correct({ lane: "" }))).toEqual({
      kind: "malformed",
      malformed: {
        type: "correct",
        id: "r 1",
        refusal: { reason: "MALFORMED", detail: "ID", path: "lane" },
        worker_id: "w-1",
        message: "Stay.",
      },
    });
  });

  it("is neither worker nor message where they are not", () => {
    const parsed = parseRequest(correct({ worker_id: "a b", message: "\ud83d" }));
    expect(parsed.kind === "malformed" && Object.keys(parsed.malformed)).toEqual(["type", "id", "refusal"]);
    expect(parseRequest(status({ message: "Stay.", issue: 1 }))).not.toHaveProperty("malformed.message");
  });

  it.each<[string, readonly (string | number)[], object]>([
    ["a field of the frame", ["max_bytes"], { path: "max_bytes" }],
    ["a place inside a field", ["next_action", "summary"], {}],
    ["a key of the client's own", ["claimed"], {}],
    ["a key that every object has", ["constructor"], {}],
  ])("names, for a fault that the codec found at %s, no key of the client's own [A2C-FRM-33]", (_, path, named) => {
    const parsed = parseRequest(correct(), { detail: "SHAPE", path });
    expect(refusal(parsed)).toEqual({ reason: "MALFORMED", detail: "SHAPE", ...named });
  });

  it("takes the codec's fault before its own checks [A2C-FRM-31] [A2C-FRM-32]", () => {
    const parsed = parseRequest(status({ issue: "" }), {
      detail: "TEXT_ENCODING",
      path: ["next_action", "summary"],
    });
    expect(refusal(parsed)).toEqual({ reason: "MALFORMED", detail: "TEXT_ENCODING", path: "next_action" });
  });
});
