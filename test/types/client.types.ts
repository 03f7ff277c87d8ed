// What users hold on to in the types of `a2achan/client`, as literals: `tsc` fails when one of them changes. A change
// here is a change for them, and belongs into CHANGELOG.md.
import type * as client from "../../src/client/index.js";
import type * as nodeSocket from "../../src/client/socket.js";
import type * as browserChecks from "../../src/client/log-checks-browser.js";
import type * as nodeChecks from "../../src/client/log-checks.js";
import type * as browserFile from "../../src/client/checkpoint-file-browser.js";
import type * as nodeFile from "../../src/client/checkpoint-file.js";
import type * as browserCodecs from "../../src/client/codecs-browser.js";
import type * as nodeCodecs from "../../src/client/codecs.js";
import type * as browserSocket from "../../src/client/socket-browser.js";
import type * as nodeHash from "../../src/protocol/hash.js";
import type * as browserHash from "../../src/protocol/hash-browser.js";
import type { PushOf, ReplyOf, RequestOf } from "../../src/protocol/index.js";

/** True only for one and the same type: optional, readonly and `undefined` count. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
/** Same members, however they were put together. */
type Alike<A, B> = Same<Flat<A>, Flat<B>>;
type Expect<T extends true> = T;

type Reason =
  | "DEFAULT_DENY"
  | "MALFORMED"
  | "OVERSIZE"
  | "UNWITNESSED"
  | "TRUST_VIOLATION"
  | "RATE_LIMITED"
  | "LEASE_HELD";
type Detail =
  | ("NO_GRANT" | "REVOKED" | "SHAPE" | "ID" | "TEXT_BLANK" | "TEXT_HIDDEN" | "TEXT_ENCODING" | "NO_ROW" | "NOT_LIVE")
  | ("ENDED" | "DIGEST" | "SUPERSEDES" | "SEQ" | "PRINCIPAL" | "SCOPE" | "CORRECTION" | "CITED" | "INBOX_FULL")
  | ("RATE" | "SESSION");
type EndStage =
  | ("WITNESSED" | "UNREFLECTED" | "DECLINED" | "EXPIRED" | "WITHDRAWN" | "SUPERSEDED" | "STALE" | "ORPHANED")
  | "REVOKED";
type Stage = "ADMITTED" | "DELIVERED" | "ACKED" | EndStage;
type StageDetail = "RUN_CHANGED" | "DIGEST_MOVED" | "WINDOW";
type Via = "declared" | "tool_input" | "plan" | "status" | "final_text";
type Step = { correction_id: string; stage: Stage; detail?: StageDetail; index: number };
type Text = { index: number; field: string; salt: string; utf8: string };
type Refusal = { reason: Reason; detail?: Detail; path?: string; bytes?: number; max_bytes?: number };
type Connect = {
  url: string;
  token: string;
  signal?: AbortSignal;
  codec?: "json" | "msgpack";
  timeoutMs?: number;
  logKey?: string;
  checkpoints?: client.CheckpointStore;
};
type Options = client.CallOptions | undefined;

export type Functions = [
  Expect<
    Same<
      keyof typeof client,
      | ("A2achanError" | "ERROR_CODES" | "connectAuditor" | "connectOrchestrator" | "connectWorker" | "decodeId")
      | ("checkpointFile" | "encodeId" | "isRefused" | "renderForModel" | "sanitize" | "statusDigest")
    >
  >,
  Expect<Same<typeof client.connectWorker, (options: client.WorkerOptions) => Promise<client.Worker>>>,
  Expect<Same<typeof client.connectOrchestrator, (options: client.ConnectOptions) => Promise<client.Orchestrator>>>,
  Expect<Same<typeof client.connectAuditor, (options: client.ConnectOptions) => Promise<client.Auditor>>>,
  Expect<Same<typeof client.checkpointFile, (path: string) => client.CheckpointStore>>,
  Expect<Same<typeof client.isRefused, (answer: unknown) => answer is client.Refused>>,
  Expect<
    Same<
      typeof client.renderForModel,
      (correction: client.RenderedCorrection, options?: client.RenderOptions) => string
    >
  >,
  Expect<Same<typeof client.sanitize, (text: string) => client.Sanitized>>,
  Expect<Same<typeof client.encodeId, (value: string | number) => string>>,
  Expect<Same<typeof client.decodeId, (id: string) => string>>,
  Expect<Same<typeof client.statusDigest, (row: client.WorkerStatus) => string>>,
];

export type Fields = [
  Expect<Alike<client.CallOptions, { signal?: AbortSignal }>>,
  Expect<Alike<client.ConnectOptions, Connect>>,
  Expect<Alike<client.WorkerOptions, Connect & { workerId: string; leaseMs?: number; inbox?: boolean }>>,
  Expect<
    Alike<
      client.StatusFields,
      {
        issue: string | number;
        task_id?: string;
        lane: string;
        last_action?: string;
        next_action?: client.PlannedAction;
      }
    >
  >,
  Expect<Alike<client.PlannedAction, { summary: string; reflects?: string[]; via?: Via }>>,
  Expect<Alike<client.PlanFields, { signal?: AbortSignal; reflects?: string[]; via?: Via }>>,
  Expect<
    Alike<
      client.CorrectOptions,
      {
        signal?: AbortSignal;
        key?: string;
        ttl_ms?: number;
        priority?: "normal" | "halt";
        freshness?: "run" | "exact";
        supersedes?: string;
        max_bytes?: number;
        scope?: client.CorrectionScope;
        digest?: string;
      }
    >
  >,
  Expect<Alike<client.CorrectionScope, { issue: string | number; task_id?: string; lane: string }>>,
  Expect<Alike<client.WorkerFilter, { worker_id?: string; issue?: string | number; lane?: string; live?: boolean }>>,
  Expect<Alike<client.LogFilter, { after?: number; worker_id?: string; correction_id?: string }>>,
  Expect<Alike<client.RenderOptions, { random?: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array }>>,
];

export type Clients = [
  Expect<
    Same<
      keyof client.Worker,
      | ("status" | "plan" | "corrections" | "take" | "inbox" | "bye" | "prove" | "confirm" | "close")
      | typeof Symbol.asyncDispose
    >
  >,
  Expect<
    Same<
      client.Worker["status"],
      (fields: client.StatusFields, options?: Options) => Promise<client.StatusAnswer | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Worker["plan"],
      (summary: string, fields?: client.PlanFields) => Promise<client.StatusAnswer | client.Refused>
    >
  >,
  Expect<Same<client.Worker["corrections"], (options?: Options) => AsyncIterableIterator<client.Correction>>>,
  Expect<Same<client.Worker["take"], (options?: Options) => Promise<client.Correction[]>>>,
  Expect<Same<client.Worker["inbox"], (open: boolean, options?: Options) => Promise<client.Refused | undefined>>>,
  Expect<
    Same<
      client.Worker["bye"],
      (outcome?: "completed" | "failed" | "canceled", options?: Options) => Promise<client.Refused | undefined>
    >
  >,
  Expect<Same<client.Worker["close"], () => Promise<void>>>,
  Expect<
    Same<
      keyof client.Orchestrator,
      | ("workers" | "list" | "get" | "correct" | "withdraw" | "stage" | "stages" | "prove" | "confirm" | "close")
      | typeof Symbol.asyncDispose
    >
  >,
  Expect<
    Same<
      client.Orchestrator["workers"],
      (filter?: client.WorkerFilter, options?: Options) => AsyncIterableIterator<client.WorkerChange>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["list"],
      (
        filter?: client.WorkerFilter,
        page?: client.CallOptions & { after?: string; limit?: number },
      ) => Promise<client.WorkerPage | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["get"],
      (workerId: string, options?: Options) => Promise<client.View | client.Refused | undefined>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["correct"],
      (
        cited: client.WorkerStatus | { readonly row: client.WorkerStatus },
        message: string,
        options?: client.CorrectOptions,
      ) => Promise<client.Receipt>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["withdraw"],
      (correctionId: string, options?: Options) => Promise<client.StageNotice | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["stage"],
      (correctionId: string, options?: Options) => Promise<client.StageNotice | client.Refused>
    >
  >,
  Expect<Same<client.Orchestrator["stages"], (options?: Options) => AsyncIterableIterator<client.StageNotice>>>,
  Expect<
    Same<
      client.Worker["prove"],
      (index: number, options?: Options) => Promise<client.EntryProof | client.Refused | undefined>
    >
  >,
  Expect<
    Same<
      client.Worker["confirm"],
      (answer: client.LoggedAnswer, options?: Options) => Promise<client.EntryProof | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["prove"],
      (index: number, options?: Options) => Promise<client.EntryProof | client.Refused | undefined>
    >
  >,
  Expect<
    Same<
      client.Orchestrator["confirm"],
      (answer: client.LoggedAnswer, options?: Options) => Promise<client.EntryProof | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Auditor["prove"],
      (index: number, options?: Options) => Promise<client.EntryProof | client.Refused | undefined>
    >
  >,
  Expect<
    Same<
      client.Auditor["verified"],
      (options?: client.CallOptions) => AsyncIterableIterator<client.LogEntry | client.Covered | client.Refused>
    >
  >,
  Expect<Same<keyof client.Auditor, "log" | "follow" | "verified" | "prove" | "close" | typeof Symbol.asyncDispose>>,
  Expect<
    Same<
      client.Auditor["log"],
      (page?: client.CallOptions & client.LogFilter & { limit?: number }) => Promise<client.LogPage | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Auditor["follow"],
      (filter?: client.CallOptions & client.LogFilter) => AsyncIterableIterator<client.LogEntry | client.Refused>
    >
  >,
];

export type Answers = [
  Expect<
    Alike<
      client.WorkerStatus,
      {
        schema: "a2achan.worker-status.v1";
        worker_id: string;
        issue: string;
        task_id?: string;
        lane: string;
        live: boolean;
        seq: number;
        last_action?: string;
        next_action?: { summary: string; reflects: string[] };
      }
    >
  >,
  Expect<
    Alike<
      client.View,
      {
        row: client.WorkerStatus;
        status_digest: string;
        liveness: "live" | "suspect" | "dead" | "ended";
        inbox: "open" | "closed";
        pending: number;
        lease_ms: number;
      }
    >
  >,
  Expect<Same<client.WorkerChange, client.View | client.Gone | client.Refused>>,
  Expect<Alike<client.Gone, { worker_id: string; gone: true }>>,
  Expect<Alike<client.WorkerPage, { rows: client.View[]; next?: string }>>,
  Expect<
    Alike<
      client.StatusAnswer,
      { row: client.WorkerStatus; status_digest: string; changed: boolean; pending: number; outcomes: Step[] }
    >
  >,
  Expect<
    Alike<
      client.StageAnswer,
      {
        correction_id: string;
        worker_id: string;
        stage: Stage;
        detail?: StageDetail;
        echo?: true;
        index: number;
        at: number;
        seq?: number;
        status_digest?: string;
        outcomes?: Step[];
      }
    >
  >,
  Expect<
    Alike<
      client.StageNotice,
      {
        correction_id: string;
        worker_id: string;
        stage: Stage;
        detail?: StageDetail;
        echo?: true;
        index: number;
        at?: number;
      }
    >
  >,
  Expect<Alike<client.Outcome, Omit<client.StageNotice, "stage"> & { stage: EndStage }>>,
  Expect<
    Alike<
      Omit<client.Correction, "ack" | "decline">,
      {
        correction_id: string;
        orchestrator_id: string;
        worker_id: string;
        issue: string;
        task_id?: string;
        lane: string;
        message: string;
        status_digest?: string;
        key?: string;
        max_bytes?: number;
        ttl_ms?: number;
        priority?: "normal" | "halt";
        freshness?: "run" | "exact";
        supersedes?: string;
        admitted_at: number;
        expires_at: number;
        readonly attempt: number;
        readonly redelivered: boolean;
        readonly stale_context: boolean;
        readonly written_at_seq: number;
        readonly age_ms: number;
        readonly backlog: number;
      }
    >
  >,
  Expect<
    Same<
      client.Correction["ack"],
      (
        fields?: { next_action?: client.PlannedAction | undefined },
        options?: Options,
      ) => Promise<client.StageAnswer | client.Refused>
    >
  >,
  Expect<
    Same<
      client.Correction["decline"],
      (reason: string, options?: Options) => Promise<client.StageAnswer | client.Refused>
    >
  >,
  Expect<Alike<client.RenderedCorrection, Omit<client.Correction, "ack" | "decline">>>,
  Expect<Same<client.Receipt, client.Admitted | client.Denied>>,
  Expect<
    Alike<
      client.Admitted,
      {
        verdict: "ALLOW";
        sent: boolean;
        correction_id: string;
        stage: Stage;
        index: number;
        expires_at: number;
        deliverable: boolean;
        replayed: boolean;
        readonly outcome: Promise<client.Outcome>;
        stages(options?: Options): AsyncIterableIterator<client.StageNotice>;
      }
    >
  >,
  Expect<
    Alike<
      client.Denied,
      Refusal & {
        verdict: "DENY";
        sent: false;
        correction_id?: string;
        index?: number;
        folded?: true;
        current?: client.WorkerStatus;
        moved: client.MovedField[];
        advice: string;
      }
    >
  >,
  Expect<Alike<client.Refused, Refusal & { refused: true; advice: string; folded?: true }>>,
  Expect<
    Alike<
      client.MovedField,
      {
        field: keyof client.WorkerStatus;
        cited: client.WorkerStatus[keyof client.WorkerStatus];
        current: client.WorkerStatus[keyof client.WorkerStatus];
      }
    >
  >,
  Expect<Alike<client.LogPage, { entries: string[]; texts: Text[]; next: number }>>,
  Expect<
    Alike<client.EntryProof, { index: number; entry?: string; hashes: string[]; checkpoint: string; signed: boolean }>
  >,
  Expect<Alike<client.Covered, { covered: number; checkpoint: string; signed: boolean }>>,
  Expect<
    client.Admitted | client.Denied | client.StageNotice | client.StageAnswer extends client.LoggedAnswer ? true : false
  >,
  Expect<
    Alike<
      client.CheckpointStore,
      {
        load: () => string | undefined | Promise<string | undefined>;
        save: (note: string) => void | Promise<void>;
      }
    >
  >,
  Expect<Alike<client.LogEntry, { index: number; line: string; texts: Text[] }>>,
  Expect<Alike<client.RemovedCodePoint, { codePoint: number; count: number; at: number[] }>>,
  Expect<Alike<client.Sanitized, { text: string; blank: boolean; removed: client.RemovedCodePoint[] }>>,
];

export type Errors = [
  Expect<
    Same<
      client.ErrorCode,
      | ("unauthenticated" | "role_not_granted" | "fenced" | "bad_frame" | "unreachable" | "connection_lost")
      | ("timeout" | "aborted" | "closed" | "protocol" | "no_status" | "unknown_outcome")
      | ("log_forked" | "unverifiable")
    >
  >,
  Expect<Same<(typeof client.ERROR_CODES)[number], client.ErrorCode>>,
  Expect<
    Same<
      Omit<client.A2achanError, keyof Error>,
      { readonly code: client.ErrorCode; readonly checkpoints?: Readonly<{ kept?: string; shown: string }> }
    >
  >,
  Expect<client.A2achanError extends Error ? true : false>,
];

/** What each `#name` means in Node and in a browser has the same form. */
export type Platforms = [
  Expect<Same<typeof nodeCodecs.CODECS, typeof browserCodecs.CODECS>>,
  Expect<Same<typeof nodeSocket.openSocket, typeof browserSocket.openSocket>>,
  Expect<Same<typeof nodeChecks.LOG_CHECKS, typeof browserChecks.LOG_CHECKS>>,
  Expect<Same<typeof nodeFile.checkpointFile, typeof browserFile.checkpointFile>>,
  Expect<Same<Flat<typeof nodeHash>, Flat<typeof browserHash>>>,
];

/** What the wire has, the SDK has: its types are those of the protocol, less what addresses a frame. */
export type Inferred = [
  Expect<Alike<client.StatusAnswer, Omit<Extract<ReplyOf<"row">, { changed: boolean }>, "type" | "id">>>,
  Expect<Alike<client.StageAnswer, Omit<ReplyOf<"stage">, "type" | "id">>>,
  Expect<Alike<Required<client.StageNotice>, Required<Omit<PushOf<"stage">, "type" | "cursor">>>>,
  Expect<Alike<Omit<client.StatusFields, "issue">, Omit<RequestOf<"status">, "type" | "id" | "issue" | "expect_seq">>>,
  Expect<
    Alike<
      Omit<client.CorrectOptions, "signal" | "scope" | "digest">,
      Pick<RequestOf<"correct">, "key" | "ttl_ms" | "priority" | "freshness" | "supersedes" | "max_bytes">
    >
  >,
  Expect<Alike<client.LogFilter, Partial<Pick<RequestOf<"log">, "after" | "worker_id" | "correction_id">>>>,
  Expect<Alike<Omit<client.Correction, "ack" | "decline">, Received<PushOf<"correction">>>>,
];
type Received<T extends { correction: object }> = T["correction"] & Readonly<Omit<T, "type" | "correction">>;
