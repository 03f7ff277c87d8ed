import type { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import { abortedBy, type A2achanError } from "./errors.js";

/** Whether a stream goes on (undefined), is over, or fails. A client that was closed has streams that are over. */
export type StreamState = "over" | A2achanError | undefined;

/** What a stream pulls from. */
export interface Source<T> {
  /** Takes the next item, if one is at hand. */
  take: () => T | undefined;
  /** How it goes on when nothing is at hand. */
  state: () => StreamState;
  /** Rung when either may have changed. */
  bell: Bell;
  /** Called once, when the consumer leaves or the stream is over. */
  leave?: () => void;
}

/** A stream whose items are taken when the consumer asks for them. Once the signal has fired it gives no more. */
export function streamOf<T>(source: Source<T>, { signal }: CallOptions = {}): AsyncIterableIterator<T> {
  return iteratorOf(
    async (left) => {
      for (;;) {
        if (left()) return undefined;
        const aborted = abortedBy(signal);
        if (aborted !== undefined) throw aborted;
        const item = source.take();
        if (item !== undefined) return item;
        if (isOver(source.state())) return undefined;
        await source.bell.wait(signal);
      }
    },
    () => {
      source.leave?.();
      source.bell.ring();
    },
  );
}

/** Whether a stream is over quietly; throws what it failed with. */
export function isOver(state: StreamState): boolean {
  if (state === undefined || state === "over") return state === "over";
  if (state.code === "closed") return true;
  throw state;
}

/** An iterator over what `next` resolves with, until it is undefined or throws; `leave` is called once at the end. */
export function iteratorOf<T>(
  next: (left: () => boolean) => Promise<T | undefined>,
  leave: () => void,
): AsyncIterableIterator<T> {
  let over = false;
  const end = (): IteratorResult<T> => {
    if (!over) {
      over = true;
      leave();
    }
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return end();
      try {
        const value = await next(() => over);
        return value === undefined ? end() : { done: false, value };
      } catch (error) {
        end();
        throw error;
      }
    },
    return() {
      return Promise.resolve(end());
    },
  };
}
