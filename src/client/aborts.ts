const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs `fn` once when the signal fires, which it has not yet; the disposable takes it back. Many clients and calls may
 * share one signal: it gets a single listener, since Node takes more than ten for a leak and warns.
 */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): Disposable | undefined {
  if (signal === undefined) return undefined;
  let set = waiting.get(signal);
  if (set === undefined) {
    const all = new Set<() => void>();
    set = all;
    waiting.set(signal, all);
    signal.addEventListener("abort", () => {
      for (const each of all) each();
    });
  }
  const own = set;
  own.add(fn);
  return { [Symbol.dispose]: () => void own.delete(fn) };
}
