import type { PushOf } from "../protocol/index.js";
import { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import { received, type Correction } from "./correction.js";
import { abortedBy } from "./errors.js";
import type { RowLane } from "./row-lane.js";
import { isOver, iteratorOf } from "./stream.js";

interface Item {
  frame: PushOf<"correction">;
  /** Its `receive` was answered DELIVERED, but nobody took it. */
  received: boolean;
  /** A `stage` push ended it. */
  over: boolean;
  /** Its session is over: what it says of attempts may no longer be so. The next session pushes it anew if it stands. */
  outdated: boolean;
}

/** Ids that were handed out are remembered up to this many: far beyond what a worker can have open. */
const REMEMBERED = 4_096;

/**
 * Corrections that were pushed and not yet taken, halts first. A correction is received when the application takes it
 * and handed out only if the broker then answers DELIVERED; each id is handed out once.
 */
export class Inbox {
  readonly #connection: Connection;
  readonly #lane: RowLane;
  readonly #bell = new Bell();
  #waiting: Item[] = [];
  readonly #taking = new Map<string, Item>();
  readonly #handed = new Set<string>();

  constructor(connection: Connection, lane: RowLane) {
    this.#connection = connection;
    this.#lane = lane;
  }

  pushed(frame: PushOf<"correction">): void {
    const id = idOf(frame);
    if (this.#handed.has(id)) return;
    const known = this.#taking.get(id) ?? this.#waiting.find((item) => idOf(item.frame) === id);
    if (known === undefined) this.#insert({ frame, received: false, over: false, outdated: false });
    else Object.assign(known, { frame, outdated: false });
  }

  /** A correction was ended by others. */
  recalled(id: string): void {
    this.#waiting = this.#waiting.filter(({ frame }) => idOf(frame) !== id);
    const taking = this.#taking.get(id);
    if (taking !== undefined) taking.over = true;
  }

  /** What was pushed to a session ends with it: the next session is pushed all that still stands. */
  down(): void {
    this.#waiting = this.#waiting.filter((item) => item.received);
    for (const item of this.#taking.values()) item.outdated = true;
  }

  /** The connection has ended. */
  ended(): void {
    this.#bell.ring();
  }

  stream({ signal }: CallOptions = {}): AsyncIterableIterator<Correction> {
    const options = signal === undefined ? {} : { signal };
    return iteratorOf(
      async (left) => {
        for (;;) {
          if (left() || isOver(this.#connection.ended)) return undefined;
          const aborted = abortedBy(signal);
          if (aborted !== undefined) throw aborted;
          const item = this.#waiting.shift();
          if (item === undefined) {
            await this.#bell.wait(signal);
            continue;
          }
          const [correction] = await this.#taken(item, options, left);
          if (correction !== undefined) return correction;
        }
      },
      () => this.#bell.ring(),
    );
  }

  async #taken(item: Item, options: CallOptions, left: () => boolean): Promise<Correction[]> {
    try {
      return await this.#take([item], (work) => this.#connection.unless(work, options), left);
    } catch (error) {
      // A client that was closed has streams that are over.
      if (isOver(this.#connection.ended)) return [];
      throw error;
    }
  }

  /** All that waits now, received; does not wait for more. */
  drain(options: CallOptions = {}): Promise<Correction[]> {
    const aborted = abortedBy(options.signal);
    if (aborted !== undefined) return Promise.reject(aborted);
    return this.#take(this.#waiting.splice(0), (work) => this.#connection.within(work, options));
  }

  /** Receives items and hands out what is DELIVERED; if nobody wants them any more, they wait for the next taker. */
  async #take(
    items: readonly Item[],
    limit: (work: Promise<unknown>) => Promise<unknown>,
    left: () => boolean = () => false,
  ): Promise<Correction[]> {
    for (const item of items) this.#taking.set(idOf(item.frame), item);
    const receipts = Promise.all(items.map((item) => this.#receive(item)));
    try {
      await limit(receipts);
    } catch (error) {
      receipts.then(
        () => this.#putBack(items),
        () => {},
      );
      throw error;
    }
    if (left()) {
      this.#putBack(items);
      return [];
    }
    const settled = this.#settled(items);
    return settled.map((item, at) => {
      this.#remember(idOf(item.frame));
      // Counted here: more may have come, and some been ended, since the push.
      return received(item.frame, settled.length - at - 1 + this.#waiting.length, this.#lane);
    });
  }

  async #receive(item: Item): Promise<void> {
    if (item.received) return;
    const correction_id = idOf(item.frame);
    const reply = await this.#connection.ask({ type: "receive", correction_id }).reply;
    item.received = reply.type === "stage" && reply.stage === "DELIVERED";
  }

  /** Of items whose receipt was asked for, those that are still to be acted on. */
  #settled(items: readonly Item[]): Item[] {
    for (const { frame } of items) this.#taking.delete(idOf(frame));
    return items.filter((item) => item.received && !item.over && !item.outdated);
  }

  #putBack(items: readonly Item[]): void {
    const back = this.#settled(items);
    const halts = this.#waiting.filter(isHalt);
    const others = this.#waiting.filter((item) => !isHalt(item));
    this.#waiting = [...back.filter(isHalt), ...halts, ...back.filter((item) => !isHalt(item)), ...others];
    this.#bell.ring();
  }

  #remember(id: string): void {
    this.#handed.add(id);
    const [oldest] = this.#handed;
    if (this.#handed.size > REMEMBERED && oldest !== undefined) this.#handed.delete(oldest);
  }

  #insert(item: Item): void {
    const at = isHalt(item) ? this.#waiting.findIndex((other) => !isHalt(other)) : -1;
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, item);
    this.#bell.ring();
  }
}

function idOf({ correction }: PushOf<"correction">): string {
  return correction.correction_id;
}

function isHalt({ frame }: Item): boolean {
  return frame.correction.priority === "halt";
}
