import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isId } from "../../src/protocol/index.js";
import { specDifferences } from "../support/generate-spec.js";
import {
  REQUIREMENT_ID,
  clausesOf,
  groupBy,
  readProtocol,
  requirementsOf,
  specFolder,
  withTables,
  type Requirement,
} from "../support/spec-document.js";
import { schemaFiles } from "../support/spec-schemas.js";
import { specTables } from "../support/spec-tables.js";

const protocol = readProtocol();
const clauses = clausesOf(protocol);
const ids = clauses.flatMap(({ id }) => (id === undefined ? [] : [id]));

describe("the specification", () => {
  it("says in its tables and schemas what the code says", () => {
    expect(specDifferences()).toEqual([]);
  });

  it("refuses a generated part that the document has no place for, and a place for an unknown part", () => {
    expect(() => withTables(protocol, new Map([...specTables(), ["extra", ""]]))).toThrow(
      "lacks the generated parts extra",
    );
    expect(() => withTables("<!-- generated:gone -->\n<!-- /generated -->", new Map())).toThrow("no use for");
  });

  it("puts a changed table in the place of the old one", () => {
    const document = "a\n<!-- generated:stages -->\nold\n<!-- /generated -->\nb";
    expect(withTables(document, new Map([["stages", "new"]]))).toBe(document.replace("old", "new"));
  });
});

describe("the clauses", () => {
  it("are numbered without a gap in each of the sections", () => {
    const next = new Map<string, number>();
    for (const { number } of clauses) {
      const [section = "", at] = number.split(".");
      const expected = (next.get(section) ?? 0) + 1;
      expect(`${section}.${at}`).toBe(`${section}.${expected}`);
      next.set(section, expected);
    }
    expect([...next.keys()]).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  });

  it("have ids that are unique and without a gap in each area", () => {
    const areas = groupBy(ids, (id) => id.slice(0, id.lastIndexOf("-")));
    for (const [area, members] of areas) {
      const first = area === "A2C-ADM" ? 0 : 1;
      const expected = members.map((_id, at) => `${area}-${String(at + first).padStart(2, "0")}`);
      expect(members.toSorted()).toEqual(expected);
    }
  });

  it("hold one MUST each where they have an id, and none where they have not", () => {
    const musts = (text: string): number => text.match(/\bMUST\b/g)?.length ?? 0;
    const wrong = clauses.filter(({ id, text }) => musts(text) !== (id === undefined ? 0 : 1));
    expect(wrong).toEqual([]);
  });

  it("are cited by one another with numbers that exist", () => {
    const numbers = new Set(clauses.map(({ number }) => number));
    const cited = clauses.flatMap(({ text }) => [...text.matchAll(/\b\d\.\d{1,2}\b/g)].map(([number]) => number));
    expect(cited.length).toBeGreaterThan(5);
    expect(cited.filter((number) => !numbers.has(number))).toEqual([]);
  });
});

describe("requirements.json", () => {
  const manifest = JSON.parse(readFileSync(join(specFolder, "requirements.json"), "utf8")) as Record<
    string,
    Requirement
  >;

  it("lists every requirement with its clause and a short sentence", () => {
    expect(Object.keys(manifest)).toEqual(ids.toSorted());
    for (const { section, title } of Object.values(manifest)) {
      expect(clauses.find(({ number }) => number === section)?.text).toContain(title);
      expect(title.length).toBeLessThan(220);
    }
  });

  it("takes the first sentence as the title, without a list behind its MUST", () => {
    const document =
      "1.1 **A2C-VER-01** A `a: b.c d` MUST hold: this, that. More.\n\n1.2 Words.\n\n1.3 **A2C-VER-02** It MUST. x";
    expect(requirementsOf(document)).toEqual({
      "A2C-VER-01": { section: "1.1", title: "A `a: b.c d` MUST hold" },
      "A2C-VER-02": { section: "1.3", title: "It MUST" },
    });
  });
});

describe("the JSON Schemas", () => {
  it("name only requirements that exist", () => {
    for (const text of schemaFiles().values()) {
      const cited = text.match(new RegExp(REQUIREMENT_ID.source, "g")) ?? [];
      expect(cited.filter((id) => !ids.includes(id))).toEqual([]);
    }
  });

  it("describe ids by a pattern that is the grammar", () => {
    const { $defs } = JSON.parse(schemaFiles().get("worker-status.json") ?? "") as {
      $defs: { id: { pattern: string } };
    };
    const pattern = new RegExp($defs.id.pattern);
    const char = fc.oneof(
      fc.constantFrom(".", "/", '"', "\\", "<", ">", "`", "~", "!", " ", "é"),
      fc.string({ maxLength: 1 }),
    );
    const text = fc.array(char, { maxLength: 130, size: "max" }).map((chars) => chars.join(""));
    fc.assert(fc.property(text, (value) => pattern.test(value) === isId(value)));
    expect([127, 128, 129].map((length) => pattern.test("x".repeat(length)))).toEqual([true, true, false]);
  });

  it("can be read back and refuse what they say they refuse", () => {
    const requests = z.fromJSONSchema(
      JSON.parse(schemaFiles().get("requests.json") ?? "") as z.core.JSONSchema.JSONSchema,
    );
    const accepts = (frame: object): boolean => requests.safeParse(frame).success;
    expect(accepts({ type: "get", id: "1", worker_id: "w-7" })).toBe(true);
    expect(accepts({ type: "get", id: "1", worker_id: "w..7" })).toBe(false);
    expect(accepts({ type: "get", id: "1", worker_id: "w-7", extra: 1 })).toBe(false);
    expect(accepts({ type: "get", id: "1" })).toBe(false);
  });
});
