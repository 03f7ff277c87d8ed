import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pagesOf } from "../../../src/broker/pages.js";

const FRAME_BYTES = 512;

describe("pagesOf", () => {
  it("keeps every item once and in order, each page as full as it can be and none too long [A2C-FRM-19]", () => {
    const item = fc.string({ maxLength: 300, unit: "binary" });
    fc.assert(
      fc.property(fc.array(item), fc.integer({ min: 1_000, max: 3_000 }), (items, most) => {
        const pages = [...pagesOf(items, most)];
        expect(pages.flat()).toEqual(items);
        const bytes = (page: readonly string[]): number => Buffer.byteLength(JSON.stringify(page)) + FRAME_BYTES;
        expect(pages.filter((page) => page.length === 0)).toEqual([]);
        expect(pages.filter((page) => page.length > 1 && bytes(page) > most)).toEqual([]);
        const roomLeft = pages
          .slice(1)
          .filter(([next], at) => bytes([...(pages[at] ?? []), next as string]) + 2 <= most);
        expect(roomLeft).toEqual([]);
      }),
    );
  });

  it("gives an item that is too long a page of its own, and no page for nothing", () => {
    expect([...pagesOf(["a", "x".repeat(2_000), "b"], 1_000)]).toEqual([["a"], ["x".repeat(2_000)], ["b"]]);
    expect([...pagesOf([])]).toEqual([]);
  });
});
