import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { covers, matchesPattern, matchesWhole } from "../../../src/protocol/index.js";

describe("matchesPattern", () => {
  it.each([
    ["**", "internal/a2achan", true],
    ["*", "internal", true],
    ["*", "internal/a2achan", false],
    ["internal/*", "internal/a2achan", true],
    ["internal/*", "internal/", true],
    ["internal/*", "internal", false],
    ["internal/*", "internal/a/b", false],
    ["internal/**", "internal/a/b", true],
    ["internal/**/x", "internal/a/b/x", true],
    ["internal/**/x", "internal/x", false],
    ["**/x", "a/b/x", true],
    ["*-1", "w-1", true],
    ["*-1", "w-12", false],
    ["w-*-z*", "w-a-z", true],
    ["ENG-12", "ENG-12", true],
    ["ENG-12", "eng-12", false],
    ["ENG-1", "ENG-12", false],
    ["a.c", "abc", false],
    ["a?c", "abc", false],
    ["[ab]", "a", false],
    ["a+", "aa", false],
    ["{a,b}", "a", false],
    ["***", "a/b", true],
  ])("%s and %s: %s [A2C-AUTH-05]", (pattern, id, is) => {
    expect(matchesPattern(pattern, id)).toBe(is);
  });

  it("agrees with a regular expression on any pattern", () => {
    const text = (units: string[]): fc.Arbitrary<string> =>
      fc.array(fc.constantFrom(...units), { maxLength: 9 }).map((parts) => parts.join(""));
    const naive = (pattern: string): RegExp => {
      const parts = pattern.split(/(\*\*|\*)/).map((part) => {
        if (part === "**") return "[^]*";
        return part === "*" ? "[^/]*" : part.replace(/[.+]/g, "\\$&");
      });
      return new RegExp(`^${parts.join("")}$`);
    };
    let matched = 0;
    fc.assert(
      fc.property(text(["*", "**", "/", "a", "b", "."]), text(["/", "a", "b", "."]), (pattern, id) => {
        const is = naive(pattern).test(id);
        if (is) matched += 1;
        expect(matchesPattern(pattern, id)).toBe(is);
      }),
      { numRuns: 20_000, seed: 1 },
    );
    expect(matched).toBeGreaterThan(500);
  });

  it("takes no longer than pattern times id, whatever the pattern", () => {
    expect(matchesPattern(`${"*a".repeat(63)}b`, "a".repeat(128))).toBe(false);
  });
});

describe("matchesWhole", () => {
  it.each([
    ["*", "owner/repo#2162", true],
    ["*", "w-1", true],
    ["owner/*", "owner/repo/x", false],
    ["**", "a/b", true],
  ])("%s and %s: %s [A2C-AUTH-06]", (pattern, id, is) => {
    expect(matchesWhole(pattern, id)).toBe(is);
  });
});

describe("covers", () => {
  const patterns = { worker: "*", issue: "*", lane: "internal/*" };

  it.each([
    [{ worker_id: "team/w-1", issue: "o/r#1", lane: "internal/a" }, true],
    [{ worker_id: "team/w-1", issue: "o/r#1", lane: "cmd" }, false],
    [{ worker_id: "team/w-1", issue: "o/r#1", lane: "internal/a/b" }, false],
  ])("needs worker, issue and lane: %o is %s [A2C-AUTH-06]", (scope, is) => {
    expect(covers(patterns, scope)).toBe(is);
  });

  it("takes a lone * for a lane as one segment only [A2C-AUTH-05]", () => {
    const scope = { worker_id: "w", issue: "1", lane: "a/b" };
    expect(covers({ worker: "w", issue: "1", lane: "*" }, scope)).toBe(false);
    expect(covers({ worker: "w", issue: "1", lane: "**" }, scope)).toBe(true);
    expect(covers({ worker: "v", issue: "1", lane: "**" }, scope)).toBe(false);
    expect(covers({ worker: "w", issue: "2", lane: "**" }, scope)).toBe(false);
  });
});
