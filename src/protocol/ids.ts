import { LIMITS } from "./limits.js";

// [!-~] without the double quote, backslash, angle brackets and backtick.
const CHARS = /^[!#-;=?-[\]-_a-~]+$/;

/** Whether `value` is an id of the grammar (PROTOCOL.md section 2): 1-128 characters, no `..`, no `//`. */
export function isId(value: string): boolean {
  return (
    value.length > 0 &&
    value.length <= LIMITS.id_chars &&
    CHARS.test(value) &&
    !value.includes("..") &&
    !value.includes("//")
  );
}

const CORRECTION_ID = /^corr_[0-9a-f]{32}$/;

/** Whether `value` has the form of a correction id. */
export function isCorrectionId(value: string): boolean {
  return CORRECTION_ID.test(value);
}

/**
 * Any text as an id: what the grammar has no room for is percent-encoded byte by byte, as is `%` itself, so that
 * `decodeId` gives the text back. A text that already is an id without `%` stays as it is.
 * Throws RangeError when the text is empty, has a lone surrogate, or does not fit into 128 characters, and for a number
 * that is no integer up to 2^53-1 either way: it may have been rounded.
 */
export function encodeId(value: string | number): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new RangeError("a number is an id only as an integer up to 2^53-1; give it as a string");
  }
  const text = String(value);
  let out = "";
  let last = "";
  for (const char of text) {
    const plain = char !== "%" && CHARS.test(char) && !((char === "." || char === "/") && char === last);
    out += plain ? char : percent(char);
    last = plain ? char : "";
  }
  if (!isId(out)) throw new RangeError("an id is 1-128 characters after encoding; shorten it or use a hash of it");
  return out;
}

/** The text that `encodeId` encoded; an id that is no such encoding comes back as it is. */
export function decodeId(id: string): string {
  try {
    const text = decodeURIComponent(id);
    return encodeId(text) === id ? text : id;
  } catch {
    return id;
  }
}

function percent(char: string): string {
  if (!char.isWellFormed()) throw new RangeError("an id cannot hold half of a surrogate pair");
  return [...new TextEncoder().encode(char)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
