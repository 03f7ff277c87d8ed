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
