import { describe, expect, it } from "vitest";
import { Outgoing } from "../../../src/broker/index.js";

describe("a frame on its way out", () => {
  it("is encoded once a codec, however many sessions of each get it", () => {
    const calls: string[] = [];
    const encoder = (name: string) => (): string => {
      calls.push(name);
      return `${name} ${calls.length}`;
    };
    const [json, msgpack] = [encoder("json"), encoder("msgpack")];
    const out = new Outgoing({ type: "pong", id: "1" });
    const got = [json, msgpack, json, msgpack, msgpack, json].map((encode) => out.as(encode));
    expect(got).toEqual(["json 1", "msgpack 2", "json 1", "msgpack 2", "msgpack 2", "json 1"]);
    expect(calls).toEqual(["json", "msgpack"]);
  });
});
