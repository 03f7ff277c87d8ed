/** Why a call or a stream of the SDK failed: closed for protocol 1. A refusal is no failure and never thrown. */
export const ERROR_CODES = [
  /** The token is missing, unknown, expired or revoked (HTTP 401 or close 4401). Final. */
  "unauthenticated",
  /** The token does not let this client take that role or be that worker (close 4403). Final. */
  "role_not_granted",
  /** A newer session of the same worker took over (close 4409). Final. */
  "fenced",
  /** The broker could not trust a frame of this client (close 4400), or a frame cannot be written or is too large to send. */
  "bad_frame",
  /** The first connection could not be made. Later ones are tried again without end. */
  "unreachable",
  /** The connection was lost under a call that must not be sent twice; its maker starts it again. */
  "connection_lost",
  /** No answer in time. What was asked may have happened all the same. */
  "timeout",
  /** An AbortSignal of the caller fired. What was asked may have happened all the same. */
  "aborted",
  /** The client was closed by its owner, or its worker said bye. */
  "closed",
  /** The broker sent something that is no frame of this protocol. */
  "protocol",
  /** `plan` was called before any `status`, so there is no row to change. */
  "no_status",
  /** The broker no longer knows a correction whose outcome was awaited: another log, or long ago. */
  "unknown_outcome",
  /**
   * The log is not the one it was: shorter, with another history or origin, or not signed by its key; or an entry is not
   * what was answered. Final; `checkpoints` has what was kept and what was shown.
   */
  "log_forked",
  /** What was asked to be checked cannot be: no good key or kept checkpoint, none shown by the broker, or a browser. Final. */
  "unverifiable",
] as const;
/** One of them. */
export type ErrorCode = (typeof ERROR_CODES)[number];

const SENTENCES: Readonly<Record<ErrorCode, string>> = {
  unauthenticated: "The broker does not accept this token; get a valid one and connect again.",
  role_not_granted: "This token does not let the client take that role or worker id; use the token made for it.",
  fenced: "A newer session of this worker took over; stop this one, or make sure that only one runs.",
  bad_frame: "The broker could not trust a frame of this client; check its version against the broker's.",
  unreachable: "The broker cannot be reached; check the URL and that it runs.",
  connection_lost: "The connection was lost before the answer; ask again.",
  timeout: "No answer in time; what was asked may have happened, so look before asking anew.",
  aborted: "The call was aborted; what was asked may have happened, so look before asking anew.",
  closed: "The client is closed; connect again.",
  protocol: "The broker sent something that is no frame of this protocol; check its version against this client's.",
  no_status: "Publish a status first: a plan changes only the next action of the row.",
  unknown_outcome: "The broker no longer knows this correction; look it up in the witness log.",
  log_forked: "The log is not the one it was; keep both checkpoints as evidence and ask its operator.",
  unverifiable: "A browser checks neither signatures nor proofs of a log; ask where Node runs.",
};

/** What a signal of the caller that has fired fails a call or a stream with; undefined before. */
export function abortedBy(signal: AbortSignal | undefined): A2achanError | undefined {
  return signal?.aborted === true ? new A2achanError("aborted", { cause: signal.reason }) : undefined;
}

/** The one error of the SDK: a closed `code`, and a sentence that says what to do. */
export class A2achanError extends Error {
  /** What to decide by; `message` is for people. */
  readonly code: ErrorCode;
  /** Of `log_forked`: the signed checkpoint that was held, if there was one, and the one that does not fit it. */
  readonly checkpoints?: Readonly<{ kept?: string; shown: string }>;

  /** `sentence` replaces the code's own; `cause` is what went wrong below, where that is known. */
  constructor(
    code: ErrorCode,
    options: { sentence?: string; cause?: unknown; checkpoints?: { kept?: string; shown: string } } = {},
  ) {
    super(options.sentence ?? SENTENCES[code], options.cause === undefined ? {} : { cause: options.cause });
    this.name = "A2achanError";
    this.code = code;
    if (options.checkpoints !== undefined) this.checkpoints = options.checkpoints;
  }
}
