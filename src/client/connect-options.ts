import type { CheckpointStore } from "./log-trail.js";

/** What every client is opened with. */
export interface ConnectOptions {
  /** `ws://HOST:PORT/v1` or `wss://...`. */
  url: string;
  /** As `a2achan token add` printed it. Sent as `Authorization: Bearer`, by a browser in `hello`; never in the URL. */
  token: string;
  /** Ends the client: its calls and streams fail with `aborted`. */
  signal?: AbortSignal;
  /**
   * How frames are written: `json`, as text that tools can show, or `msgpack`, in fewer bytes. Rows, digests and answers
   * are the same; a text with a lone surrogate, which msgpack has no form for, is refused before it is sent, and in no
   * log. Default `json`; a browser's bundle always speaks JSON.
   */
  codec?: "json" | "msgpack";
  /** Milliseconds that a call waits for its answer, reconnects included; default 30,000. */
  timeoutMs?: number;
  /**
   * What the log's checkpoints are signed with, `NAME+ID+BASE64`, from somebody else than the broker: every checkpoint
   * must be signed by it. Without it signatures are not checked, and a broker is only held to what it showed before.
   * A browser cannot check it: connecting rejects with `unverifiable`.
   */
  logKey?: string;
  /**
   * Where the highest checkpoint outlives this client, so that the next one demands that the log extends it; see
   * `checkpointFile`. Default: it is kept for as long as this client lives, across its reconnects.
   */
  checkpoints?: CheckpointStore;
}
