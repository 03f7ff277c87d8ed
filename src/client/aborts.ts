const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs `fn` once when the signal fires, which it has not yet; the disposable takes it back. Many clients and calls may
 * share one signal: it gets a single listener, since Node takes more than ten for a leak and warns.
 */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): Disposable | undefined {
  if (signal === undefined) return undefined;
  const all = waiting.get(signal) ?? listenTo(signal);
  all.add(fn);
  return { [Symbol.dispose]: () => void all.delete(fn) };
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  waiting.set(signal, all);
  signal.addEventListener("abort", () => {
    for (const each of all) each();
  });
  return all;
}
