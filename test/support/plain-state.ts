import type { State } from "../../src/kernel/index.js";

/**
 * A state as plain values, to be compared: whom a correction is for and of is named, and the places in the queue of what
 * is due are left out, since it may hold the same in several orders.
 */
export function plainState({ due: _due, corrections, workers, senders, ...rest }: State): Record<string, unknown> {
  return {
    ...rest,
    corrections: [...corrections].map(([key, { worker, sender, place: _place, ...correction }]) => [
      key,
      { ...correction, worker: worker.id, sender: sender.subject },
    ]),
    workers: [...workers].map(([key, { open, citing, ...worker }]) => [
      key,
      { ...worker, open: [...open.keys()], citing: [...citing].map(([by, cited]) => [by, idsOf(cited)]) },
    ]),
    senders: [...senders].map(([key, { open, ended, ...sender }]) => [
      key,
      { ...sender, open: [...open.keys()], ended: idsOf(ended) },
    ]),
  };
}

function idsOf(corrections: Iterable<{ id: string }>): string[] {
  return [...corrections].map(({ id }) => id);
}
