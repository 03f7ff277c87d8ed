/** Every number of protocol 1 in one place. Bytes are UTF-8 bytes, times are milliseconds of log time. */
export const LIMITS = {
  /** Characters of an id. */
  id_chars: 128,
  message_bytes: 1024,
  last_action_bytes: 512,
  summary_bytes: 512,
  reason_bytes: 256,
  /** Characters of `status_digest` as cited. */
  digest_bytes: 128,
  /** Characters of a correction's `key`. */
  key_chars: 64,
  /** Characters of a request `id`. */
  request_id_chars: 64,
  /** Ids that one planned action can name. */
  reflects: 9,
  /** Steps of one progress report, and refs of one `evidence`. */
  steps: 50,
  ttl_default_ms: 600_000,
  ttl_ceiling_ms: 3_600_000,
  /** Open corrections of one worker; a halt may be one more. */
  open_per_worker: 8,
  open_per_worker_halt: 9,
  /** Admissions of one principal in any `rate_window_ms`. */
  admitted_per_window: 20,
  /** New digests of one worker in any `rate_window_ms`. */
  digests_per_window: 20,
  rate_window_ms: 1_000,
  /** Corrections of one principal kept that cite one current digest. */
  citing_per_digest: 1_024,
  /** Ended corrections kept for each principal. */
  ended_per_principal: 1_024,
  lease_default_ms: 60_000,
  lease_min_ms: 45_000,
  lease_max_ms: 900_000,
  /** Refusals of one principal that are logged singly before they are folded, and how often one more is. */
  refusal_burst: 100,
  refusal_refill_ms: 20_000,
  /** A `hello` must arrive within this time and size. */
  hello_ms: 5_000,
  hello_bytes: 4_096,
  /** One WebSocket message from a client. */
  frame_bytes: 131_072,
  /** One page of `rows` or `entries`. */
  page_bytes: 49_152,
  /** Unasked pushes that one session may leave unread. */
  outgoing_bytes: 262_144,
  frames_per_second: 50,
  frames_burst: 100,
  connections: 1_024,
  unauthenticated: 32,
  ping_ms: 15_000,
  missed_pings: 2,
} as const;

/** Every limit with the value in force; the log records it. */
export type Limits = { readonly [K in keyof typeof LIMITS]: number };

/** Limits that an operator may change. The others are the form of the protocol itself. */
export type TunableLimits = Pick<
  Limits,
  | "open_per_worker"
  | "open_per_worker_halt"
  | "admitted_per_window"
  | "digests_per_window"
  | "citing_per_digest"
  | "ended_per_principal"
  | "refusal_burst"
  | "refusal_refill_ms"
  | "hello_ms"
  | "frame_bytes"
  | "outgoing_bytes"
  | "frames_per_second"
  | "frames_burst"
  | "connections"
  | "unauthenticated"
  | "ping_ms"
  | "missed_pings"
>;
