import { readFileSync, readdirSync } from "node:fs";
import type { CodecName } from "./codec.js";
import type { Frames } from "./pattern.js";

type Fields = Record<string, unknown>;
/** Variable name to the dotted path of a value in the frame that came. */
export type Save = Readonly<Record<string, string>>;

interface Came {
  expect?: Fields;
  save?: Save;
}

/** One step, as README.md explains the kinds. */
export type Step =
  | ({
      open: string;
      token?: string | null;
      hello?: Fields | null;
      headers?: Record<string, string>;
      subprotocols?: string[];
      selected?: string;
      query?: string;
      refused?: number;
    } & Came)
  | ({ send: string; frame: Fields; as?: string } & Came)
  | ({ reply: string; to: string; bytes_at_most?: number } & Came)
  | ({ push: string; expect: Fields } & Came)
  | { raw: string; frame?: unknown; text?: unknown; base64?: unknown; binary?: boolean; what?: string }
  | { none: string; expect: Fields }
  | { check: unknown; expect: unknown }
  | { close: string }
  | { drop: string }
  | { closed: string; code: number; reason?: string }
  | { repeat: number; as: string; steps: Step[] }
  | { do: string };

export interface Scenario {
  name: string;
  /** The one codec that the scenario is about; without it, any. */
  codec?: CodecName;
  requirements: string[];
  steps: Step[];
}

export interface Topic {
  topic: string;
  scenarios: Scenario[];
}

/** Frames and routines that scenarios share. */
export interface Common {
  frames: Frames;
  routines: Readonly<Record<string, Step[]>>;
}

const folder = new URL("steps/", import.meta.url);
const COMMON = "common.json";

/** Every scenario, a topic a file. */
export function loadTopics(): Topic[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json") && name !== COMMON);
  return files.toSorted().map((name) => ({ topic: name.slice(0, -5), scenarios: read(name) as Scenario[] }));
}

export function loadCommon(): Common {
  return read(COMMON) as Common;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}
