import type { TextLine } from "../kernel/index.js";
import type { TextField } from "../protocol/index.js";

/** What one group commit makes durable together: all of it or nothing. */
export interface Batch {
  /** Index of the first entry: where the writer believes that the log ends. */
  first: number;
  /** Entry lines, each exactly the bytes of its leaf. */
  entries: readonly string[];
  texts: readonly TextLine[];
}

export interface Page {
  entries: string[];
  /** The texts that are still there of those entries. */
  texts: TextLine[];
}

/** How far a log reaches, and what it is: the tree over its first `size` entries. */
export interface Head {
  size: number;
  /** RFC 6962 root, lower-case hex. */
  root: string;
}

/** A text by the entry that brought it and the commitment that it opens. */
export interface TextPlace {
  index: number;
  field: TextField;
  /** `commitment()` of the protocol, lower-case hex. */
  committed: string;
}

/** A tail that never became durable, kept in a file of its own. */
export interface TornTail {
  file: string;
  bytes: number;
}

/**
 * Where the log lives. One writer; `append` is not called again before the last one has settled.
 * Every store passes the acceptance suite of `test/support/event-store-suite.ts`.
 */
export interface EventStore {
  /** Number of durable entries. */
  size(): number;
  /** The tree over them. */
  head(): Head;
  /**
   * Resolves when the batch is durable. Rejects when it cannot be, or when `batch.first` is not the end of the log
   * (another writer was here): the caller must then stop, never try again.
   */
  append(batch: Batch): Promise<void>;
  /** Durable entries from index `from`, at most `limit`; empty at the end. */
  read(from: number, limit: number): Promise<Page>;
  /**
   * Erases every text of that batch which opens that commitment; resolves when nothing of it is left, also when nothing
   * was there. Entries stay as they are. Rejects when it cannot: the caller must then stop.
   */
  redact(place: TextPlace): Promise<void>;
  /** What the start found behind the last whole batch and set aside, if anything. */
  readonly torn?: TornTail | undefined;
  /** Resolves with the error when the store has failed, inside an append or outside of one. */
  readonly failed: Promise<unknown>;
  close(): Promise<void>;
}
