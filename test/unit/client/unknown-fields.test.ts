import { describe, expect, it } from "vitest";
import { CODECS } from "../../../src/client/codecs.js";
import { Connection } from "../../../src/client/connection.js";
import { tokenFault } from "../../../src/client/ends.js";
import { systemRuntime } from "../../../src/client/runtime.js";
import { refuseUnknownFields } from "../../../src/client/unknown-fields.js";

const STATUS = { type: "status", id: "r1", issue: "1", lane: "a" };

describe("a slip in a call", () => {
  it.each([
    ["status", { ...STATUS, nextAction: {} }, "status has no field nextAction; did you mean next_action?"],
    ["status", { ...STATUS, next_action: { 0: "a" } }, "status has no field next_action.0."],
    ["watch", { type: "watch", id: "r1", filter: { worker: "x" } }, "watch has no field filter.worker."],
    ["follow", { type: "follow", id: "r1", after: 0, text: true }, "follow has no field text."],
  ] as const)("is named before anything is sent: %s %o", (type, frame, sentence) => {
    expect(() => refuseUnknownFields(type, frame)).toThrow(
      expect.objectContaining({ code: "bad_frame", message: expect.stringContaining(sentence) as string }),
    );
  });

  it("is no other fault: that is the broker's to say", () => {
    for (const frame of [STATUS, { ...STATUS, issue: "a b" }, { ...STATUS, lane: 7 }]) {
      expect(() => refuseUnknownFields("status", frame)).not.toThrow();
    }
  });

  it("in the codec or the token says what is wanted", () => {
    const options = { url: "ws://127.0.0.1:1/v1", token: "t", codec: "cbor" as "json" };
    expect(() => new Connection(options, systemRuntime)).toThrow("The codec is json or msgpack.");
    expect(() => new Connection({ ...options, codec: "toString" as "json" }, systemRuntime)).toThrow("msgpack");
    expect(Object.keys(CODECS)).toEqual(["json", "msgpack"]);
    for (const token of [undefined, ""]) expect(tokenFault(token)?.message).toContain("No token was given");
    expect(tokenFault("a b")?.message).toContain("printable ASCII");
  });
});
