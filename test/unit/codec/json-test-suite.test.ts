import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { jsonCodec } from "../../../src/codec/json.js";
import { scanJson } from "../../../src/codec/scan-json.js";
import pinned from "./json-test-suite.outcomes.json" with { type: "json" };

type Outcome = "value" | "close" | "SHAPE" | "TEXT_ENCODING";

/** `bare`: the file as the whole message, which must be an object. `embedded`: its bytes as the value of a one-key object. */
const outcomes = pinned as Record<string, Record<"bare" | "embedded", Outcome>>;
const names = Object.keys(outcomes);

/** RFC 8259 accepts these; the codec profile closes on them, wherever they stand. */
const CLOSED_BY_PROFILE = new Map([
  ["y_object_duplicated_key.json", "duplicate key"],
  ["y_object_duplicated_key_and_value.json", "duplicate key"],
  ["y_object_empty_key.json", "key grammar"],
  ["y_object_escaped_null_in_key.json", "key grammar"],
]);

const suite = new URL("../../../../shared/vectors/public/json-test-suite/test_parsing/", import.meta.url);

function outcome(message: Uint8Array): Outcome {
  const decoded = jsonCodec.decode(message);
  // The scanner alone: it must not lean on JSON.parse to reject.
  expect(scanJson(message).ok).toBe(decoded.ok);
  if (!decoded.ok) return "close";
  return decoded.fault?.detail ?? "value";
}

describe("the outcomes pinned for JSONTestSuite", () => {
  it("covers its 318 files", () => {
    expect(names).toHaveLength(318);
  });

  // Embedding makes none of these well-formed, so this rule has no exceptions.
  it("closes on every file that no parser may accept, in both forms", () => {
    for (const name of names.filter((file) => file.startsWith("n_"))) {
      expect(outcomes[name], name).toEqual({ bare: "close", embedded: "close" });
    }
  });

  it("keeps the connection open for every embedded file that each parser must accept, but for rules of the profile", () => {
    const closed = names.filter((file) => file.startsWith("y_") && outcomes[file]?.embedded === "close");
    expect(closed).toEqual([...CLOSED_BY_PROFILE.keys()]);
  });

  it("refuses every embedded number on which parsers may differ", () => {
    for (const name of names.filter((file) => file.startsWith("i_number_"))) {
      expect(outcomes[name]?.embedded, name).toBe("SHAPE");
    }
  });
});

describe("JSONTestSuite", () => {
  if (!existsSync(suite)) {
    it.skip("is not beside this checkout: its files are not read");
    return;
  }

  it("has the files that are pinned", () => {
    expect(readdirSync(suite).sort()).toEqual([...names].sort());
  });

  it.each(names)("decodes %s as pinned", (name) => {
    const bytes = readFileSync(new URL(encodeURIComponent(name), suite));
    const embedded = Buffer.concat([Buffer.from('{"v":'), bytes, Buffer.from("}")]);
    expect({ bare: outcome(bytes), embedded: outcome(embedded) }).toEqual(outcomes[name]);
  });
});
