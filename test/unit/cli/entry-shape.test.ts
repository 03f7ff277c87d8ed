import { describe, expect, it } from "vitest";
import { isWellFormed } from "../../../src/cli/audit/entry-shape.js";
import { readEntry, type LoggedEvent } from "../../../src/kernel/index.js";
import { everyKind, MADE_ANEW } from "../../support/every-kind.js";

type Path = readonly [...(string | number)[]];

const LOG = everyKind();
const entries = LOG.map(({ line }) => readEntry(line)).filter(({ kind }) => !MADE_ANEW.includes(kind));

function* placesIn(value: object, path: Path = []): Generator<{ path: Path; held: unknown }> {
  for (const [name, held] of Object.entries(value)) {
    yield { path: [...path, name], held };
    if (typeof held === "object") yield* placesIn(held as object, [...path, name]);
  }
}

/** The entry with another value at a place. */
function withValue(entry: LoggedEvent, path: Path, value: unknown): LoggedEvent {
  const copy = structuredClone(entry);
  const [name, ...rest] = [...path].reverse();
  const holder = rest.reverse().reduce<object>((at, step) => at[step as keyof typeof at], copy);
  Object.defineProperty(holder, name ?? "", { value, enumerable: true });
  return copy;
}

describe("the shape of an entry", () => {
  it("is that of every entry that a broker writes, with its texts and without", () => {
    expect(LOG.filter(({ line, texts }) => !isWellFormed(readEntry(line, texts)))).toEqual([]);
    expect(LOG.filter(({ line }) => !isWellFormed(readEntry(line)))).toEqual([]);
  });

  it("has no value of another type anywhere", () => {
    const kept = entries.flatMap((entry) =>
      [...placesIn(entry)].flatMap(({ path, held }) =>
        [null, [null], { of: 1 }, -1, typeof held === "number" ? "7" : 7]
          .filter((value) => isWellFormed(withValue(entry, path, value)))
          .map((value) => `${entry.kind} ${path.join(".")} ${JSON.stringify(value)}`),
      ),
    );
    expect(kept).toEqual([]);
  });

  it("has no member beyond its own, however it is called", () => {
    const kept = entries.flatMap((entry) =>
      [{ path: [], held: entry }, ...placesIn(entry)].flatMap(({ path, held }) =>
        ["__proto__", "constructor", "toJSON", "kept"]
          .filter(() => typeof held === "object" && !Array.isArray(held))
          .filter((name) => isWellFormed(withValue(entry, [...path, name], "Said to nobody.")))
          .map((name) => `${entry.kind} ${[...path, name].join(".")}`),
      ),
    );
    expect(kept).toEqual([]);
  });

  it("has no free text where a name or an id stands", () => {
    const texts = entries.flatMap((entry) =>
      [...placesIn(entry)]
        .filter(({ path, held }) => typeof held === "string" && isWellFormed(withValue(entry, path, "Two\nlines.")))
        .map(({ path }) => path.join(".")),
    );
    // What a request cites may be any short string, and what a program calls itself any at all.
    expect(new Set(texts)).toEqual(new Set(["version", "content.status_digest"]));
  });

  it("lets only who administers give and take grants, and redact", () => {
    const administered = entries.filter(({ kind }) => ["grant_added", "grant_revoked", "redacted"].includes(kind));
    expect(administered.length).toBeGreaterThan(5);
    expect(administered.filter((entry) => isWellFormed(withValue(entry, ["by", "role"], "worker")))).toEqual([]);
    expect(administered.every((entry) => isWellFormed(withValue(entry, ["by", "role"], "broker")))).toBe(true);
  });
});
