/**
 * Everything that is not a visible character or a blank: controls (C0, C1, ESC), bidi and other formats, surrogates,
 * private and unassigned code points, line and paragraph separators, and what is drawn as nothing.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/**
 * What a terminal can be given of a text that somebody else wrote: one line, in which nothing moves the cursor, changes
 * a mode, turns the direction or hides. What is not printable is escaped, never dropped.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A value as JSON that a terminal can be given: the same value, with what is not printable in JSON's own escapes. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNPRINTABLE, (char) => {
    // The line ends of the layout; those of texts are escaped already.
    if (char === "\n") return char;
    return Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join("");
  });
}
