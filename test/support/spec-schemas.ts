import { z } from "zod";
import { deliveredCorrection, view } from "../../src/protocol/answers.js";
import { correctionContent } from "../../src/protocol/correction.js";
import {
  citedDigestField,
  correctionIdField,
  count,
  cursorField,
  digestField,
  idField,
  keyField,
  lastActionField,
  lifetimeInteger,
  messageField,
  reasonField,
  requestIdField,
  sessionField,
  summaryField,
  time,
  tokenField,
} from "../../src/protocol/fields.js";
import { LIMITS, PUSHES, REPLIES, REQUESTS, workerStatus } from "../../src/protocol/index.js";
import { filter, nextAction } from "../../src/protocol/requests.js";
import { nextActionRow } from "../../src/protocol/status.js";

/** What a schema's JSON form says beyond what zod can tell: its name in `$defs`, and what its own checks come to. */
interface Notes {
  [key: string]: unknown;
  id?: string;
  description?: string;
  $comment?: string;
}

const NOT_ENOUGH = "Necessary, not sufficient";

const text = (id: string, maxBytes: number, clause: string): Notes => ({
  id,
  description: `Free text of 1 to ${maxBytes} UTF-8 bytes under text policy 1.`,
  $comment: `${NOT_ENOUGH}: bytes and text policy are judged by PROTOCOL.md ${clause}.`,
  minLength: 1,
  maxLength: maxBytes,
});

/** The named field types of the frame tables, in the order in which the document lists them. */
export const FIELD_TYPES: readonly (readonly [z.ZodType, Notes])[] = [
  [
    idField,
    {
      id: "id",
      description:
        "1 to 128 characters of [!-~] without double quote, backslash, angle brackets and backtick; no '..', no '//'.",
      $comment: "PROTOCOL.md A2C-ID-01, A2C-ID-02.",
      pattern: "^(?!.*(?:\\.\\.|//))[!#-;=?-\\[\\]-_a-~]{1,128}$",
    },
  ],
  [
    correctionIdField,
    {
      id: "correction_id",
      description: "corr_ and 32 lower-case hex digits.",
      $comment: "PROTOCOL.md A2C-ID-05.",
      pattern: "^corr_[0-9a-f]{32}$",
    },
  ],
  [
    messageField,
    {
      ...text("message", LIMITS.message_bytes, "A2C-ADM-03, A2C-TXT-01"),
      description: `Free text of 1 to ${LIMITS.message_bytes} UTF-8 bytes under text policy 1; its length is judged after the grant.`,
    },
  ],
  [lastActionField, text("last_action", LIMITS.last_action_bytes, "A2C-TXT-01, A2C-TXT-03")],
  [summaryField, text("summary", LIMITS.summary_bytes, "A2C-TXT-01, A2C-TXT-03")],
  [reasonField, text("reason", LIMITS.reason_bytes, "A2C-TXT-01, A2C-TXT-03")],
  [digestField, { id: "digest", description: "sha256: and 64 lower-case hex digits." }],
  [
    citedDigestField,
    {
      id: "cited_digest",
      description: `A digest as cited: any string of at most ${LIMITS.digest_bytes} UTF-8 bytes.`,
      $comment: `${NOT_ENOUGH}: bytes are judged by PROTOCOL.md A2C-ADM-18.`,
      maxLength: LIMITS.digest_bytes,
    },
  ],
  [keyField, { id: "key", description: `1 to ${LIMITS.key_chars} characters of [A-Za-z0-9._:-].` }],
  [requestIdField, { id: "request_id", description: `1 to ${LIMITS.request_id_chars} printable ASCII characters.` }],
  [sessionField, { id: "session", description: "The broker's name for one session: 1 to 64 of [A-Za-z0-9_-]." }],
  [cursorField, { id: "cursor", description: "Opaque, 1 to 128 characters." }],
  [tokenField, { id: "token", description: "1 to 256 characters." }],
  [count, { id: "count", description: "An integer from 0 to 2^53-1." }],
  [lifetimeInteger, { id: "positive", description: "An integer from 1 to 2^53-1." }],
  [time, { id: "time", description: "Milliseconds of log time, an integer from 0." }],
];

/** The named objects, which the tables show by their fields. */
export const OBJECT_TYPES: readonly (readonly [z.ZodType, Notes])[] = [
  [
    workerStatus,
    {
      id: "row",
      description: "The live status row of a worker.",
      $comment: "PROTOCOL.md section 2. In canonical form (RFC 8785) it is what the status digest covers.",
    },
  ],
  [nextActionRow, { id: "next_action_row", description: "The planned action as the row holds it." }],
  [
    nextAction,
    {
      id: "next_action",
      description: "A next action as a worker sends it; one that differs from the row's is planned.",
    },
  ],
  [filter, { id: "filter", description: "Grant patterns that narrow what the grant covers." }],
  [view, { id: "view", description: "A row with what the broker knows beside it." }],
  [
    deliveredCorrection,
    { id: "delivered_correction", description: "The content of a correction as sent, with what the broker adds." },
  ],
];

/** Checks inside a schema that need words of their own and no name. */
const NOTED: readonly (readonly [z.ZodType, Notes])[] = [
  [nextAction.shape.reflects.unwrap(), { $comment: "PROTOCOL.md A2C-ROW-11.", uniqueItems: true }],
  [nextActionRow.shape.reflects, { $comment: "PROTOCOL.md A2C-ROW-03, A2C-ROW-11.", uniqueItems: true }],
  [
    correctionContent.shape.ttl_ms.unwrap(),
    { description: `Milliseconds, 1 to ${LIMITS.ttl_ceiling_ms}.`, $comment: "PROTOCOL.md A2C-ADM-01." },
  ],
  [REQUESTS.list.shape.limit.unwrap(), { description: "At most this many, 1 to 1000." }],
  [REQUESTS.prove, { oneOf: [{ required: ["index"] }, { required: ["from_size"] }] }],
];

type Frames = Readonly<Record<string, z.ZodType>>;

/** The text of each file of spec/schema, by its name. Throws when a schema has a check that no note puts into words. */
export function schemaFiles(): Map<string, string> {
  return new Map([
    ["requests.json", frameFile("requests", "Frames that a client sends", "request", REQUESTS)],
    ["replies.json", frameFile("replies", "Frames that the broker sends in reply to a request", "reply", REPLIES)],
    ["pushes.json", frameFile("pushes", "Frames that the broker sends unasked", "push", PUSHES)],
    ["worker-status.json", file("worker-status", "The live status row of a worker", workerStatus, [])],
  ]);
}

function frameFile(name: string, title: string, suffix: string, frames: Frames): string {
  const named = Object.entries(frames).map(([type, frame]) => [frame, { id: `${type}_${suffix}` }] as const);
  return file(name, title, z.union(Object.values(frames) as [z.ZodType]), named);
}

function file(name: string, title: string, root: z.ZodType, frames: readonly (readonly [z.ZodType, Notes])[]): string {
  const registry = z.registry<Notes>();
  for (const [schema, notes] of [...FIELD_TYPES, ...OBJECT_TYPES, ...frames]) registry.add(schema, notes);
  for (const [schema, notes] of NOTED) registry.add(schema, { ...registry.get(schema), ...notes });
  const noted = new Set<z.core.$ZodType>();
  for (const [schema] of [...FIELD_TYPES, ...OBJECT_TYPES, ...NOTED]) {
    for (let at: z.core.$ZodType | undefined = schema; at !== undefined; at = at._zod.parent) noted.add(at);
  }
  const { $schema, $defs, ...rest } = z.toJSONSchema(root, {
    target: "draft-2020-12",
    metadata: registry,
    unrepresentable: "throw",
    override: ({ zodSchema }) => {
      const { checks, type } = zodSchema._zod.def;
      const custom = checks?.some(({ _zod }) => _zod.def.check === "custom") === true;
      if (custom && !noted.has(zodSchema)) throw new Error(`${name}: a check of a schema of type ${type} has no note`);
    },
  });
  const out = {
    $schema,
    $id: `a2achan.v1.${name}`,
    title,
    $comment: `${NOT_ENOUGH}: the codec profile, byte limits, text policy and every rule about state are in PROTOCOL.md. Generated; do not edit.`,
    ...rest,
    $defs: sorted($defs ?? {}),
  };
  return `${JSON.stringify(out, null, 2)}\n`;
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
