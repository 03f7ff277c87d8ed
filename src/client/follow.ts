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

/** Entries that wait for their consumer; beyond that many, the broker is asked again later. */
const MOST_WAITING = 4_096;

/** One following of the log: asks from where it has come to, again after a reconnect or when it had to let go. */
export class Follow {
  readonly #connection: Connection;
  readonly #filter: Omit<LogFilter, "after">;
  readonly #bell = new Bell();
  #waiting: LogEntry[] = [];
  /** Entries of the log that were taken in or passed over. */
  #after: number;
  /** `idle`: nothing comes until it is asked for. `asked`: what comes is of an older asking until the answer. */
  #state: "idle" | "asked" | "flowing" | "over" = "idle";
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
    if (this.#state === "flowing") this.#take(push);
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
    const { reply } = this.#connection.ask(ask, { again: false, heard: (answer) => this.#heard(answer) });
    // A loss of the connection: `reconnected` asks anew.
    reply.catch(() => {});
  }

  // In the turn in which the answer comes: the pushes behind it follow it.
  #heard(answer: ReplyOf<"entries"> | ReplyOf<"refusal">): false {
    if (this.#state !== "asked") return false;
    if (answer.type === "refusal") {
      this.#refused = refusedBy(answer);
      this.stop();
    } else {
      this.#state = "flowing";
      this.#take(answer);
    }
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
    if (this.#waiting.length > MOST_WAITING) this.#state = "idle";
    this.#bell.ring();
  }

  #next(): LogEntry | Refused | undefined {
    const entry = this.#waiting.shift();
    if (entry !== undefined) return entry;
    if (this.#state === "idle" && this.#failed === undefined) this.#ask();
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
