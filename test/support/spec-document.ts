import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./source-files.js";

/** A numbered clause of PROTOCOL.md; `id` where it is a requirement. */
export interface Clause {
  /** `section.number`, as written. */
  number: string;
  id?: string;
  text: string;
}

/** What spec/requirements.json says of one requirement. */
export interface Requirement {
  /** The number of its clause. */
  section: string;
  /** Its first sentence, without what it lists. */
  title: string;
}

/** Who stands at the other end of the broker's connection, and which way the frame goes. */
export interface ExampleFrame {
  /** The number of the example session, from 1. */
  session: number;
  /** Line of the document, from 1. */
  line: number;
  peer: string;
  direction: "to broker" | "from broker";
  json: string;
}

export const REQUIREMENT_ID = /A2C-[A-Z]{2,4}-\d{2}/;

export const specFolder = join(projectRoot, "spec");

export function readProtocol(): string {
  return readFileSync(join(specFolder, "PROTOCOL.md"), "utf8");
}

/** Every clause, in the order of the document. */
export function clausesOf(document: string): Clause[] {
  const pattern = new RegExp(`^(\\d+\\.\\d+) (?:\\*\\*(${REQUIREMENT_ID.source})\\*\\* )?(.*)$`, "gm");
  return [...document.matchAll(pattern)].map(([, number = "", id, text = ""]) =>
    id === undefined ? { number, text } : { number, id, text },
  );
}

/** The requirements by id, sorted. */
export function requirementsOf(document: string): Record<string, Requirement> {
  const found = clausesOf(document).flatMap(({ id, number, text }): [string, Requirement][] =>
    id === undefined ? [] : [[id, { section: number, title: firstSentence(text) }]],
  );
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Up to the first full stop, or the first colon or semicolon behind the MUST, that ends a word and stands in no code. */
function firstSentence(text: string): string {
  const sentence = /^(?:`[^`]*`|[^`])*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
  const short = /^(?:`[^`]*`|[^`])*?MUST(?:`[^`]*`|[^`])*?(?=[:;]\s)/.exec(sentence)?.[0] ?? sentence;
  return short.replace(/\.$/, "");
}

/** The document with the content of its generated parts; throws for a part that only one side knows. */
export function withTables(document: string, tables: ReadonlyMap<string, string>): string {
  const unused = new Set(tables.keys());
  const out = document.replace(
    /(<!-- generated:([a-z-]+) -->\n)[^]*?(<!-- \/generated -->)/g,
    (_part, start: string, name: string, end: string) => {
      const content = tables.get(name);
      if (content === undefined || !unused.delete(name)) throw new Error(`PROTOCOL.md has no use for a part "${name}"`);
      return `${start}${content}\n${end}`;
    },
  );
  if (unused.size > 0) throw new Error(`PROTOCOL.md lacks the generated parts ${[...unused].join(", ")}`);
  return out;
}

/** Every frame of the example sessions: lines in fenced blocks of section 10 that are no `#` comments. */
export function examplesOf(document: string): ExampleFrame[] {
  const frames: ExampleFrame[] = [];
  let session = 0;
  let fenced = false;
  document.split("\n").forEach((text, at) => {
    const heading = /^### 10\.(\d+) /.exec(text);
    if (heading !== null) session = Number(heading[1]);
    if (text.startsWith("```")) fenced = !fenced;
    else if (session > 0 && fenced && !text.startsWith("#") && text.trim() !== "") {
      const frame = /^([A-Z]\d?)([<>]) (\{.*\})$/.exec(text);
      if (frame === null) throw new Error(`PROTOCOL.md:${at + 1} is neither a frame nor a comment`);
      const [, peer = "", arrow, json = ""] = frame;
      frames.push({ session, line: at + 1, peer, direction: arrow === ">" ? "to broker" : "from broker", json });
    }
  });
  return frames;
}

/** The items by what `key` says of them, in the order in which each key first appears. */
export function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
