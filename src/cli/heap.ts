import { setFlagsFromString } from "node:v8";

/**
 * Runs `work` on a heap that is collected whenever it has doubled. For reading a long log: nearly all of it is
 * garbage at once, and left to itself V8 lets that pile up to several times what is kept.
 */
export async function withTightHeap<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString("--heap-growing-percent=100");
  try {
    return await work();
  } finally {
    setFlagsFromString("--heap-growing-percent=0");
  }
}

/**
 * Has V8 allocate every object as new. Left to itself it learns, from one burst in which frames wait for the store, that
 * such objects live long, and then puts each of them, and all that they refer to, where only a full collection looks.
 * That doubles the cost of collecting for as long as the process runs.
 */
export function allocateYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
