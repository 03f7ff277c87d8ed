import { describe, expect, it } from "vitest";
import { writeMsgpack } from "../../support/msgpack.js";
import { Haul } from "../../support/haul.js";

const NEEDLE = "needle-0001-0a1b2c3d";
const SALT = "00ff".repeat(16);
const OTHER = "ab".repeat(32);

function hauled(data: string | Uint8Array): unknown[] {
  const haul = new Haul(/needle-\d{4}-[0-9a-f]{8}/g);
  haul.take(data);
  return [...haul.needles, ...haul.among([SALT, OTHER])];
}

const escaped = (text: string): string =>
  text.replace(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const base64 = (text: string | Uint8Array): string => Buffer.from(text as string).toString("base64");

describe("a haul", () => {
  it.each([
    ["as it is", `Look at ${NEEDLE}.`],
    ["in a line in a frame", JSON.stringify({ entries: [JSON.stringify({ text: NEEDLE })] })],
    ["escaped", `{"text":"${escaped(NEEDLE)}"}`],
    ["escaped in a line in a frame", JSON.stringify({ entries: [`{"text":"${escaped(NEEDLE)}"}`] })],
    ["in base64 in a frame", JSON.stringify({ extra: base64(`a ${NEEDLE} `) })],
    ["in base64 of base64", base64(base64(NEEDLE))],
    ["in base64url", Buffer.from(`\u00ff\u00ff${NEEDLE}`, "latin1").toString("base64url")],
    ["in msgpack", writeMsgpack({ texts: [{ utf8: NEEDLE }] })],
  ])("holds a text %s", (_, data) => {
    expect(hauled(data)).toEqual([NEEDLE]);
  });

  it.each([
    ["in hex", JSON.stringify({ salt: SALT })],
    ["in upper case", SALT.toUpperCase()],
    ["in a longer run of hex", `${OTHER.slice(0, 10)}${SALT}${OTHER.slice(0, 6)}`],
    ["in base64", JSON.stringify([base64(Buffer.from(SALT, "hex"))])],
    ["as bytes among others", Buffer.concat([Buffer.from("abc"), Buffer.from(SALT, "hex"), Buffer.from("d")])],
  ])("holds a salt %s", (_, data) => {
    expect(hauled(data)).toEqual([SALT]);
  });

  it("holds none of what was not there", () => {
    expect(hauled(`${NEEDLE.slice(0, -1)} ${SALT.slice(1)} ${base64("nothing to see here, and no salt")}`)).toEqual([]);
  });
});
