import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { msgpackCodec } from "../../../src/codec/msgpack.js";
import { scanMsgpack } from "../../../src/codec/scan-msgpack.js";

/** A value by the name of its type, and every form in which it may be written: hex with dashes. */
type Case = { msgpack: string[]; bignum?: string } & Record<string, unknown>;

/** The files of the suite: forms in all, and how many of them are taken, refused with SHAPE, and closed on, each as the value of a one-key map. */
const FILES: Record<string, [forms: number, taken: number, refused: number, closed: number]> = {
  "10.nil.yaml": [1, 1, 0, 0],
  "11.bool.yaml": [2, 2, 0, 0],
  "12.binary.yaml": [9, 0, 0, 9],
  "20.number-positive.yaml": [73, 73, 0, 0],
  "21.number-negative.yaml": [33, 33, 0, 0],
  "22.number-float.yaml": [4, 0, 4, 0],
  "23.number-bignum.yaml": [19, 13, 6, 0],
  "30.string-ascii.yaml": [13, 13, 0, 0],
  "31.string-utf8.yaml": [10, 10, 0, 0],
  "32.string-emoji.yaml": [4, 4, 0, 0],
  "40.array.yaml": [14, 14, 0, 0],
  "41.map.yaml": [9, 9, 0, 0],
  "42.nested.yaml": [12, 12, 0, 0],
  "50.timestamp.yaml": [19, 0, 0, 19],
  "60.ext.yaml": [11, 0, 0, 11],
};

const suite = new URL(
  "../../../../shared/vectors/public/msgpack-test-suite/dist/msgpack-test-suite.json",
  import.meta.url,
);

/** The value of a case as JSON has it; undefined where it has none of the types of a frame. */
function valueOf(one: Case): unknown {
  const type = ["nil", "bool", "number", "string", "array", "map"].find((name) => name in one);
  return type === undefined ? undefined : one[type];
}

function outcomeOf(one: Case, form: string): "taken" | "refused" | "closed" {
  const bytes = Buffer.from(form.replaceAll("-", ""), "hex");
  const embedded = Buffer.concat([Buffer.from("\u0081\u00a1v", "latin1"), bytes]);
  const decoded = msgpackCodec.decode(embedded);
  // The scanner alone: it must not lean on msgpackr to reject.
  expect(scanMsgpack(embedded).ok).toBe(decoded.ok);
  // Alone it is a frame only where it is a map.
  expect(msgpackCodec.decode(bytes)).toStrictEqual("map" in one ? { ok: true, value: one["map"] } : { ok: false });
  if (!decoded.ok) return "closed";
  const shape = { detail: "SHAPE", path: ["v"] };
  const sound = decoded.fault === undefined;
  expect(decoded).toStrictEqual(
    sound ? { ok: true, value: { v: valueOf(one) } } : { ok: true, value: decoded.value, fault: shape },
  );
  return sound ? "taken" : "refused";
}

describe("the public msgpack-test-suite", () => {
  if (!existsSync(suite)) {
    it.skip("is not beside this checkout: its file is not read");
    return;
  }
  const files = JSON.parse(readFileSync(suite, "utf8")) as Record<string, Case[]>;

  it("has the files that are pinned", () => {
    expect(Object.keys(files).toSorted()).toEqual(Object.keys(FILES).toSorted());
  });

  it.each(Object.keys(FILES))("%s is decoded as pinned, in every form [A2C-FRM-43] [A2C-FRM-44]", (file) => {
    const outcomes = (files[file] ?? []).flatMap((one) => one.msgpack.map((form) => outcomeOf(one, form)));
    const count = (outcome: string): number => outcomes.filter((came) => came === outcome).length;
    expect([outcomes.length, count("taken"), count("refused"), count("closed")]).toEqual(FILES[file]);
  });
});
