/** What must hold whatever happens, each in one sentence: what a violation prints. */
export const CLAUSES = {
  I1: "Every answer that a client saw is in the log, and in the log that is taken up later.",
  I2: "WITNESSED follows ADMITTED, an ack by the worker that cites the digest, and the first plan after it naming the id.",
  I3: "Each ADMITTED cites the digest of the worker's latest row, which is live and equal in worker, issue, task and lane.",
  I4: "The same admitted request never yields two corrections, and every repeat gets its receipt.",
  I5: "One SDK process hands an id to its application at most once; another one's is marked redelivered.",
  I6: "A worker's deliveries keep the order of admission within a priority.",
  I7: "Once faults stop, every ADMITTED reaches exactly one end in time, and its sender can learn it, in order.",
  I8: "seq strictly rises per worker, across restarts, and no digest comes again.",
  I9: "A start never fails on a torn tail, and never succeeds on damage below the durable head.",
  I10: "The state that the log gives equals the state in memory.",
  I11: "Each refusal has one entry or is counted in one refusals_folded; its reason is what the rules say.",
  I12: "Nothing is delivered to another worker, or without ADMITTED.",
  I13: "An id names one content.",
  I14: "Queues, maps and buffers stay under their caps, and nothing is left behind at the end.",
  I15: "Every entry's subject was covered by its principal's grant at that time.",
  I16: "The kernel calls no clock, randomness or I/O.",
  lease: "A row is live while its worker gives signs of life, not for long after, and not over a start of the broker.",
  gone: "What was redacted is on no disk and is served to nobody; what the process left undone the next start does.",
  kept: "What was not redacted is there; what was is so with a word in the log, which verifies.",
  watch: "Who watches is shown the rows as they are, in the end.",
} as const;

export type Invariant = keyof typeof CLAUSES;

/** Something that must not be, and was. */
export interface Violation {
  /** An invariant, or a rule of the log without a number of its own. */
  invariant: string;
  what: string;
}

/** Hears of each violation. */
export type Report = (invariant: Invariant, what: string) => void;
