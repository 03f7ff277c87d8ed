import type { PushOf, ReplyOf } from "../protocol/index.js";
import { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import { A2achanError } from "./errors.js";
import { refusedBy, type Refused } from "./refusals.js";
import { streamOf, type StreamState } from "./stream.js";

/** Which entries of the log. */
export interface LogFilter {
  /** How many entries of the log the reader holds already; default 0: from the start. */
  after?: number;
  /** Only entries that name this worker. */
  worker_id?: string;
  /** Only entries that name this correction. */
  correction_id?: string;
}

/** One entry of the witness log. */
export interface LogEntry {
  index: number;
  /** The exact line of the log, without its line end: canonical JSON. */
  line: string;
  /** The texts that the entry commits to, if the token grants them. */
  texts: NonNullable<PushOf<"entries">["texts"]>;
}

type Entries = Omit<PushOf<"entries">, "type">;

/** Entries that wait for their consumer; what comes beyond is let go and read from the log later. */
const MOST_WAITING = 4_096;

/** One following of the log: once a session, from where it has come to; a consumer that is slow gets it page by page. */
export class Follow {
  readonly #connection: Connection;
  readonly #filter: Omit<LogFilter, "after">;
  readonly #bell = new Bell();
  #waiting: LogEntry[] = [];
  /** Entries of the log that were taken in or passed over. */
  #after: number;
  /**
   * `asked`: no answer to `follow` yet. `flowing`: pushes are taken. `behind`: they are let go, until the consumer has
   * taken what waits; `reading`: then pages of the log are asked for, until they reach the pushes again.
   */
  #state: "asked" | "flowing" | "behind" | "reading" | "over" = "asked";
  /** Where the next push begins, at the latest. */
  #ahead = 0;
  #refused: Refused | undefined;
  #failed: A2achanError | undefined;

  constructor(connection: Connection, { after = 0, ...filter }: LogFilter) {
    this.#connection = connection;
    this.#filter = filter;
    this.#after = after;
    this.#ask();
  }

  stream(options: CallOptions): AsyncIterableIterator<LogEntry | Refused> {
    return streamOf(
      {
        bell: this.#bell,
        take: () => this.#next(),
        state: (): StreamState =>
          this.#failed ?? this.#connection.ended ?? (this.#state === "over" ? "over" : undefined),
        leave: () => this.stop(),
      },
      options,
    );
  }

  pushed(push: PushOf<"entries">): void {
    if (this.#state === "flowing") {
      this.#take(push);
      if (this.#waiting.length > MOST_WAITING) this.#state = "behind";
    }
    this.#ahead = push.next ?? this.#ahead;
  }

  reconnected(): void {
    if (this.#state !== "over") this.#ask();
  }

  /** Another takes its place, or its consumer left. */
  stop(): void {
    this.#state = "over";
    this.#bell.ring();
  }

  ended(): void {
    this.#bell.ring();
  }

  #ask(): void {
    if (this.#connection.ended !== undefined) return;
    this.#state = "asked";
    const ask = { type: "follow", after: this.#after, ...this.#filter } as const;
    // A loss of the connection: `reconnected` asks anew.
    this.#connection.ask(ask, { again: false, heard: (answer) => this.#heard(answer) }).reply.catch(() => {});
  }

  #read(): void {
    this.#state = "reading";
    const ask = { type: "log", after: this.#after, ...this.#filter } as const;
    this.#connection.ask(ask, { again: false, heard: (answer) => this.#heard(answer) }).reply.catch(() => {});
  }

  // In the turn in which the answer comes: the pushes behind it follow it.
  #heard(answer: ReplyOf<"entries"> | ReplyOf<"refusal">): false {
    if (this.#state === "over") return false;
    if (answer.type === "refusal") {
      this.#refused = refusedBy(answer);
      this.stop();
      return false;
    }
    const reached = this.#state === "asked" || (answer.next ?? 0) >= this.#ahead;
    this.#state = reached ? "flowing" : "behind";
    this.#take(answer);
    return false;
  }

  #take({ entries, texts = [], next = 0 }: Entries): void {
    for (const line of entries) {
      const index = indexOf(line);
      if (index === undefined) this.#failed = new A2achanError("protocol");
      else if (index >= this.#after)
        this.#waiting.push({ index, line, texts: texts.filter((text) => text.index === index) });
    }
    this.#after = Math.max(this.#after, next, (this.#waiting.at(-1)?.index ?? -1) + 1);
    this.#bell.ring();
  }

  #next(): LogEntry | Refused | undefined {
    const entry = this.#waiting.shift();
    if (entry !== undefined) return entry;
    if (this.#state === "behind" && this.#failed === undefined) this.#read();
    const refused = this.#refused;
    this.#refused = undefined;
    return refused;
  }
}

function indexOf(line: string): number | undefined {
  try {
    const { index } = JSON.parse(line) as { index?: unknown };
    return typeof index === "number" && Number.isSafeInteger(index) ? index : undefined;
  } catch {
    return undefined;
  }
}
