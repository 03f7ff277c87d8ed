import type { OpenSocket } from "./socket.js";

/** Time as the client uses it; tests give their own. */
export interface ClientClock {
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Runs `fn` once, `ms` milliseconds from now, unless disposed before. */
  at(ms: number, fn: () => void): Disposable;
}

/** What a client takes from outside itself. */
export interface Runtime {
  clock: ClientClock;
  /** From 0 to below 1, for jitter. */
  random(): number;
  /** A key that was never used before: 1-64 of `[A-Za-z0-9._:-]`. */
  freshKey(): string;
  /** Default: a WebSocket of this machine. */
  openSocket?: OpenSocket;
}

/** Fills `bytes` with chance that nobody can foresee, and gives them back. */
export type FillRandom = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

/** The platform's own: what Node and browsers both have. */
export const fillRandom: FillRandom = (bytes) => crypto.getRandomValues(bytes);

/** 128 bits of chance as 32 hex digits. */
export function randomHex(fill: FillRandom): string {
  return [...fill(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const systemRuntime: Runtime = {
  clock: {
    monotonic: () => performance.now(),
    at: (ms, fn) => {
      const timer = setTimeout(fn, Math.max(0, Math.ceil(ms)));
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  },
  random: () => Math.random(),
  freshKey: () => randomHex(fillRandom),
};
