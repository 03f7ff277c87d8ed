import { LIMITS } from "../protocol/index.js";

/** Bytes that a page leaves for the frame round its items. */
const FRAME_BYTES = 512;

/** Cuts a list into pages of at most 48 KiB as JSON, each with at least one item; no page for no items. */
export function* pagesOf<T>(items: Iterable<T>, most: number = LIMITS.page_bytes): Iterable<T[]> {
  let page: T[] = [];
  let bytes = FRAME_BYTES;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (page.length > 0 && bytes + size > most) {
      yield page;
      page = [];
      bytes = FRAME_BYTES;
    }
    page.push(item);
    bytes += size;
  }
  if (page.length > 0) yield page;
}
