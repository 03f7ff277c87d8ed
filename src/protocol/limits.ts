/** Every number of protocol 1 in one place. Bytes are UTF-8 bytes, times are milliseconds of log time. */
export const LIMITS = {
  /** Characters of an id. */
  id: 128,
  messageBytes: 1024,
  lastActionBytes: 512,
  summaryBytes: 512,
  reasonBytes: 256,
  /** Characters of `status_digest` as cited. */
  digestBytes: 128,
  /** Characters of a correction's `key`. */
  keyChars: 64,
  /** Characters of a request `id`. */
  requestIdChars: 64,
  /** Ids that one planned action can name. */
  reflects: 9,
  /** Steps of one progress report, and refs of one `evidence`. */
  steps: 50,
  ttlDefaultMs: 600_000,
  ttlCeilingMs: 3_600_000,
  /** Open corrections of one worker; a halt may be one more. */
  openPerWorker: 8,
  openPerWorkerHalt: 9,
  /** Admissions of one principal in any `rateWindowMs`. */
  admittedPerWindow: 20,
  /** New digests of one worker in any `rateWindowMs`. */
  digestsPerWindow: 20,
  rateWindowMs: 1_000,
  /** Corrections kept that cite one current digest. */
  citingPerDigest: 1_024,
  /** Ended corrections kept for each principal. */
  endedPerPrincipal: 1_024,
  leaseDefaultMs: 60_000,
  leaseMinMs: 45_000,
  leaseMaxMs: 900_000,
  /** Refusals of one principal that are logged singly before they are folded, and how often one more is. */
  refusalBurst: 100,
  refusalRefillMs: 20_000,
  /** A `hello` must arrive within this time and size. */
  helloMs: 5_000,
  helloBytes: 4_096,
  /** One WebSocket message from a client. */
  frameBytes: 131_072,
  /** One page of `rows` or `entries`. */
  pageBytes: 49_152,
  /** Unasked pushes that one session may leave unread. */
  outgoingBytes: 262_144,
  framesPerSecond: 50,
  framesBurst: 100,
  connections: 1_024,
  unauthenticated: 32,
  pingMs: 15_000,
  missedPings: 2,
} as const;

/** Limits that an operator may change; the log records those in force. */
export type Limits = { readonly [K in keyof typeof LIMITS]: number };
