import { onAbort } from "./aborts.js";
import { A2achanError } from "./errors.js";
import type { ClientClock } from "./runtime.js";

/** How one call or one stream can be cut short. */
export interface CallOptions {
  /** Gives the call up with `aborted`, ends the stream with it; what was sent stays sent. */
  signal?: AbortSignal;
}

/**
 * The outcome of `work`, unless `signal` aborts or `ms` milliseconds pass first: then `giveUp` is called and the
 * promise rejects with `aborted` or `timeout`. Without `ms` there is no time limit.
 */
export function bounded<T>(
  work: Promise<T>,
  limits: { clock: ClientClock; ms?: number; signal?: AbortSignal | undefined; trouble?: () => unknown },
  giveUp: () => void = () => {},
): Promise<T> {
  const { clock, ms, signal, trouble } = limits;
  return new Promise<T>((resolve, reject) => {
    const timer = ms === undefined ? undefined : clock.at(ms, () => fail("timeout"));
    const settle = (): void => {
      timer?.[Symbol.dispose]();
      listening?.[Symbol.dispose]();
    };
    const fail = (code: "timeout" | "aborted"): void => {
      settle();
      giveUp();
      reject(new A2achanError(code, { cause: code === "aborted" ? signal?.reason : trouble?.() }));
    };
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error instanceof Error ? error : new A2achanError("protocol", { cause: error }));
      },
    );
    const listening = signal?.aborted === true ? undefined : onAbort(signal, () => fail("aborted"));
    if (signal?.aborted === true) fail("aborted");
  });
}
