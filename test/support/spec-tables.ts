import { z } from "zod";
import {
  CLOSE,
  DETAILS,
  END_STAGES,
  FINAL_CLOSE_CODES,
  LIMITS,
  PUSHES,
  REASONS,
  REPLIES,
  REQUESTS,
  REQUEST_VERB,
  ROLES,
  ROLE_VERBS,
  STAGES,
  STAGE_DETAILS,
  type CloseName,
  type Limits,
  type PushType,
  type Reason,
  type ReplyType,
  type RequestType,
  type Role,
  type Stage,
  type StageDetail,
} from "../../src/protocol/index.js";
import { FIELD_TYPES, OBJECT_TYPES } from "./spec-schemas.js";

/** The reply to a request that is not refused. */
const REPLY_OF: Readonly<Record<RequestType, ReplyType>> = {
  hello: "welcome",
  status: "row",
  receive: "stage",
  ack: "stage",
  decline: "stage",
  inbox: "ok",
  bye: "ok",
  get: "row",
  list: "rows",
  watch: "rows",
  unwatch: "ok",
  correct: "receipt",
  withdraw: "stage",
  stage: "stage",
  log: "entries",
  follow: "entries",
  progress: "ok",
  evidence: "ok",
  checkpoint: "proof",
  prove: "proof",
  ping: "pong",
};

/** Who sends a request that no verb of this version decides. */
const SENDER_OF_UNSERVED: Readonly<Partial<Record<RequestType, string>>> = { progress: "worker", evidence: "worker" };

/** Where a reply answers several requests that do not share one form. */
const REPLY_VARIANTS: Readonly<Partial<Record<ReplyType, readonly string[]>>> = { row: ["to `get`", "to `status`"] };
const PUSH_TO: Readonly<Record<PushType, readonly string[]>> = {
  correction: ["the worker's current session"],
  stage: ["the sender's sessions; a worker's session, for what others ended"],
  row: ["a session that watches", "a session that watches, for a row that left its filter or grant"],
  entries: ["a session that follows"],
};

const REASON_WORDS: { readonly [R in Reason]: Readonly<Record<"" | (typeof DETAILS)[R][number], string>> } = {
  DEFAULT_DENY: {
    "": "No grant allows it.",
    NO_GRANT: "The role or the grant does not allow the verb, or not for this worker, issue and lane.",
    REVOKED: "The token is revoked or has expired.",
  },
  MALFORMED: {
    "": "The frame breaks its form.",
    SHAPE: "A field is missing, unknown, of another type or out of its range; a number that is no safe integer.",
    ID: "An id or a correction id breaks its grammar.",
    TEXT_BLANK: "A text has nothing to see in it.",
    TEXT_HIDDEN: "A text has a character that people do not see.",
    TEXT_ENCODING: "A text has half of a surrogate pair.",
  },
  OVERSIZE: { "": "A text is too long; `bytes` and `max_bytes` say by how much." },
  UNWITNESSED: {
    "": "What the request relies on is not the state of now.",
    NO_ROW: "No row of that worker within the grant.",
    NOT_LIVE: "The row is not live.",
    ENDED: "The worker ended its run.",
    DIGEST: "The digest cited is not the current one.",
    SUPERSEDES: "The correction to supersede has ended.",
    SEQ: "`expect_seq` is not the row's `seq`.",
  },
  TRUST_VIOLATION: {
    "": "The request names what is not its sender's.",
    PRINCIPAL: "`orchestrator_id` is not the principal.",
    SCOPE: "Issue, task or lane are not the row's.",
    SUPERSEDES: "The correction to supersede is not this principal's for this worker.",
    CORRECTION: "The correction is unknown or another worker's.",
    CITED: "The digest is not the one that the correction cites.",
  },
  RATE_LIMITED: {
    "": "There is no room now.",
    INBOX_FULL: "The worker has too many open corrections.",
    RATE: "Too many in the last 1,000 ms, or too many that cite one digest.",
  },
  LEASE_HELD: { "": "Another session holds the worker.", SESSION: "This session is not the worker's current one." },
};

const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  ADMITTED: "It is in the log.",
  DELIVERED: "The worker gave its receipt.",
  ACKED: "The worker acknowledged it.",
  WITNESSED: "It was acked and named in the next planned action.",
  UNREFLECTED: "It was acked and not named in the next planned action.",
  DECLINED: "The worker declined it, with a reason.",
  EXPIRED: "Its window ended first.",
  WITHDRAWN: "Its sender took it back before the receipt.",
  SUPERSEDED: "A later correction of its sender took its place.",
  STALE: "The run, or for `exact` the digest, moved on.",
  ORPHANED: "The worker ended its run.",
  REVOKED: "Its sender's grant went before the receipt.",
};

const STAGE_DETAIL_WORDS: Readonly<Record<StageDetail, string>> = {
  RUN_CHANGED: "STALE: issue, task or lane moved.",
  DIGEST_MOVED: "STALE: the digest moved before the receipt, freshness `exact`.",
  WINDOW: "EXPIRED: it was acked, and no planned action came in time.",
};

const CLOSE_WORDS: Readonly<Record<CloseName, string>> = {
  DONE: "After a `bye`.",
  BAD_FRAME: "The message cannot be trusted to be a request, or comes out of turn.",
  UNAUTHENTICATED: "No good token, or no longer.",
  ROLE_NOT_GRANTED: "The token does not have the role or the worker.",
  HELLO_TIMEOUT: "No `hello` in time.",
  FENCED: "Another session of the same worker was opened.",
  TOO_MANY: "A limit of connections or frames.",
  SLOW_CONSUMER: "Too much was left unread; the cursor resumes.",
  FAULT: "The log could not be written.",
  DRAINING: "The broker stops in order.",
};

/** `form`: the same for every broker. `rule`: decides verdicts. `edge`: bounds a connection. */
const LIMIT_WORDS: { readonly [K in keyof Limits]: readonly ["form" | "rule" | "edge", string] } = {
  id_chars: ["form", "characters of an id"],
  message_bytes: ["form", "bytes of `message`"],
  last_action_bytes: ["form", "bytes of `last_action`"],
  summary_bytes: ["form", "bytes of `summary`"],
  reason_bytes: ["form", "bytes of a decline's `reason`"],
  digest_bytes: ["form", "bytes of a digest as cited"],
  key_chars: ["form", "characters of `key`"],
  request_id_chars: ["form", "characters of a request's `id`"],
  reflects: ["form", "ids in one `reflects`"],
  steps: ["form", "steps of one `progress`, refs of one `evidence`"],
  ttl_default_ms: ["form", "ms of a window without `ttl_ms`"],
  ttl_ceiling_ms: ["form", "ms, the most that `ttl_ms` can ask"],
  open_per_worker: ["rule", "open corrections of a worker"],
  open_per_worker_halt: ["rule", "open corrections of a worker, for a halt"],
  admitted_per_window: ["rule", "admissions of a principal in one window"],
  digests_per_window: ["rule", "new digests of a worker in one window"],
  rate_window_ms: ["form", "ms, the window of the two above"],
  citing_per_digest: ["rule", "kept corrections of a principal that cite one current digest"],
  ended_per_principal: ["rule", "ended corrections kept of a principal"],
  lease_default_ms: ["form", "ms of a lease without `lease_ms`"],
  lease_min_ms: ["form", "ms, the shortest lease"],
  lease_max_ms: ["form", "ms, the longest lease"],
  refusal_burst: ["rule", "refusals of a principal that are logged singly at once"],
  refusal_refill_ms: ["rule", "ms until one more is"],
  hello_ms: ["edge", "ms for `hello`"],
  hello_bytes: ["form", "bytes of the first message"],
  frame_bytes: ["edge", "bytes of one message from a client"],
  page_bytes: ["form", "bytes of one page of `rows` or `entries`"],
  outgoing_bytes: ["edge", "bytes of unasked pushes that a session may leave unread"],
  frames_per_second: ["edge", "messages a second from one connection"],
  frames_burst: ["edge", "messages at once from one connection"],
  connections: ["edge", "connections"],
  unauthenticated: ["edge", "connections of which no token was verified yet"],
  ping_ms: ["edge", "ms between pings"],
  missed_pings: ["edge", "pings without answer until a connection is lost"],
};

/** The Markdown of each generated part of the document, by its name. */
export function specTables(): Map<string, string> {
  return new Map([
    ["reasons", reasonsTable()],
    [
      "stages",
      table(
        ["stage", "open", "means"],
        STAGES.map((stage) => [stage, isEnd(stage) ? "" : "yes", STAGE_WORDS[stage]]),
      ),
    ],
    [
      "stage-details",
      table(
        ["detail", "means"],
        STAGE_DETAILS.map((detail) => [detail, STAGE_DETAIL_WORDS[detail]]),
      ),
    ],
    ["requests", requestsTable()],
    ["replies", repliesTable()],
    ["pushes", pushesTable()],
    ["field-types", fieldTypesTable()],
    ["close-codes", closeTable()],
    [
      "limits",
      table(
        ["name", "value", "kind", "of"],
        entriesOf(LIMITS).map(([name, value]) => [`\`${name}\``, grouped(value), ...LIMIT_WORDS[name]]),
      ),
    ],
  ]);
}

function isEnd(stage: Stage): boolean {
  return (END_STAGES as readonly Stage[]).includes(stage);
}

function reasonsTable(): string {
  const rows = REASONS.flatMap((reason) => {
    const words: Readonly<Record<string, string>> = REASON_WORDS[reason];
    return ["", ...DETAILS[reason]].map((detail) => [detail === "" ? reason : "", detail, words[detail] ?? ""]);
  });
  return table(["reason", "detail", "means"], rows);
}

function closeTable(): string {
  const rows = entriesOf(CLOSE).map(([name, { code, reason }]) => [
    String(code),
    `\`${reason}\``,
    FINAL_CLOSE_CODES.includes(code) ? "yes" : "",
    CLOSE_WORDS[name],
  ]);
  return table(["code", "reason", "final", "when"], rows);
}

function requestsTable(): string {
  const rows = entriesOf(REQUESTS).map(([type, schema]) => [
    senderOf(type),
    `\`${type}\``,
    REQUEST_VERB[type],
    `\`${REPLY_OF[type]}\``,
    fieldsOf(schema, ["type", "id"]),
  ]);
  return table(["from", "type", "verb", "reply", "fields beside `type` and `id`"], rows);
}

function senderOf(type: RequestType): string {
  const verb = REQUEST_VERB[type];
  if (verb === "unserved") return SENDER_OF_UNSERVED[type] ?? "any";
  return ROLES.find((role: Role) => verb !== "any" && ROLE_VERBS[role].includes(verb)) ?? "any";
}

function repliesTable(): string {
  const rows = entriesOf(REPLIES).flatMap(([type, schema]) =>
    variantsOf(schema).map((variant, at) => [
      `\`${type}\``,
      REPLY_VARIANTS[type]?.[at] ?? repliedTo(type),
      fieldsOf(variant, ["type", "id"]),
    ]),
  );
  return table(["type", "answers", "fields beside `type` and `id`"], rows);
}

function repliedTo(type: ReplyType): string {
  if (type === "refusal") return "any but `correct`";
  const types = entriesOf(REPLY_OF).filter(([, reply]) => reply === type);
  return types.map(([request]) => `\`${request}\``).join(", ");
}

function pushesTable(): string {
  const rows = entriesOf(PUSHES).flatMap(([type, schema]) =>
    variantsOf(schema).map((variant, at) => [`\`${type}\``, PUSH_TO[type][at] ?? "", fieldsOf(variant, ["type"])]),
  );
  return table(["type", "to", "fields beside `type`"], rows);
}

function fieldTypesTable(): string {
  const fields = FIELD_TYPES.map(([, notes]) => [notes.id ?? "", notes.description ?? ""]);
  const objects = OBJECT_TYPES.map(([schema, notes]) => [
    notes.id ?? "",
    `${notes.description ?? ""} ${fieldsOf(schema as z.ZodObject, [])}`,
  ]);
  return table(["type", "is"], [...fields, ...objects]);
}

function variantsOf(schema: z.ZodType): z.ZodObject[] {
  return (schema instanceof z.ZodUnion ? schema.options : [schema]) as z.ZodObject[];
}

const NAMES = new Map<z.core.$ZodType, string>(
  [...FIELD_TYPES, ...OBJECT_TYPES].map(([schema, notes]) => [schema, notes.id ?? ""]),
);

/** `name type`, with a `?` for what may be left out; the type is not repeated where the field is named after it. */
function fieldsOf(schema: z.ZodObject, without: readonly string[]): string {
  const fields = Object.entries(schema.shape).filter(([name]) => !without.includes(name));
  return fields
    .map(([name, field]) => {
      const optional = field instanceof z.ZodExactOptional || field instanceof z.ZodOptional;
      const type = typeOf(optional ? (field.unwrap() as z.ZodType) : (field as z.ZodType));
      return `\`${name}${optional ? "?" : ""}\`${type === name ? "" : ` ${type}`}`;
    })
    .join(" · ");
}

function typeOf(schema: z.ZodType): string {
  const name = NAMES.get(schema);
  if (name !== undefined) return name;
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodOptional)
    return typeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodNullable) return `${typeOf(schema.unwrap() as z.ZodType)} or null`;
  if (schema instanceof z.ZodLiteral) return [...schema.values].map((value) => JSON.stringify(value)).join(" / ");
  if (schema instanceof z.ZodEnum) return enumWords(schema.options as string[]);
  if (schema instanceof z.ZodArray) return `[${typeOf(schema.element as z.ZodType)}]`;
  if (schema instanceof z.ZodObject) return `{${fieldsOf(schema, [])}}`;
  if (schema instanceof z.ZodRecord) return "{name: count}";
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodString) return "string";
  if (schema instanceof z.ZodNumber) return `${grouped(schema.minValue ?? 0)} to ${grouped(schema.maxValue ?? 0)}`;
  throw new Error(`no words for a schema of type ${schema.type}`);
}

/** The closed lists that have tables of their own are named, not repeated. */
function enumWords(options: readonly string[]): string {
  const isAll = (closed: readonly string[]): boolean => closed.join() === options.join();
  if (isAll(STAGES)) return "a stage";
  if (isAll(STAGE_DETAILS)) return "a stage detail";
  if (isAll(REASONS)) return "a reason";
  if (isAll([...new Set(Object.values(DETAILS).flat())])) return "a detail";
  return options.join(" / ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

function entriesOf<T extends object>(record: T): { [K in keyof T]: [K, T[K]] }[keyof T][] {
  return Object.entries(record) as { [K in keyof T]: [K, T[K]] }[keyof T][];
}
