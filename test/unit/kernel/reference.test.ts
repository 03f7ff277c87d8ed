import { describe, expect, it } from "vitest";
import { admit, live } from "../../support/reference.js";
import { ADMISSION_DIFFERENCES, NOT_UTF8, reference, type LifeCycle } from "../../support/reference-vectors.js";

const ALLOW = { verdict: "ALLOW", reason: "" };
const RECEIVED = { ...ALLOW, left_in_inbox: 0 };
const WITNESSED = { acked: true, reflected: true };

type Course = Pick<LifeCycle, "receive" | "ack" | "observe"> & { clause: string };

/** The same for life cycles: the whole course as it goes here. */
const LIFE_CYCLE_DIFFERENCES: Readonly<Record<string, Course>> = {
  "seq advanced before receive: dequeued and lost": {
    receive: RECEIVED,
    ack: ALLOW,
    observe: WITNESSED,
    clause: "4.50: a correction stays open when the row moves within the run",
  },
  "last_action changed before receive: lost": {
    receive: RECEIVED,
    ack: ALLOW,
    observe: WITNESSED,
    clause: "4.50: a correction stays open when the row moves within the run",
  },
  "not live at receive: refused before dequeue, stays queued": {
    receive: RECEIVED,
    ack: { verdict: "DENY", reason: "UNWITNESSED" },
    observe: { acked: false, reflected: false },
    clause: "5.12: a receipt is accepted while the row is not live",
  },
  "seq 0 at receive: refused before dequeue": {
    receive: RECEIVED,
    ack: ALLOW,
    observe: WITNESSED,
    clause: "2.7: seq is the broker's and starts at 1, so that no row has seq 0",
  },
  "lane changed before receive: lost as UNWITNESSED": {
    receive: { verdict: "DENY", reason: "ended", left_in_inbox: 0 },
    ack: { verdict: "DENY", reason: "ended" },
    observe: { acked: false, reflected: false },
    clause: "4.48: a correction of an earlier run ends as STALE/RUN_CHANGED, and its sender is told",
  },
  "seq advanced between receive and ack": {
    receive: RECEIVED,
    ack: ALLOW,
    observe: WITNESSED,
    clause: "6.39: an ack cites the digest that the correction cites, not the row's of now",
  },
  "invalid utf-8 summary at ack": {
    receive: RECEIVED,
    ack: { verdict: "CLOSE", reason: "4400" },
    observe: { acked: false, reflected: false },
    clause: NOT_UTF8,
  },
};

const same = <T extends { name: string }>(vectors: readonly T[], differences: object): T[] =>
  vectors.filter(({ name }) => !Object.hasOwn(differences, name));
const other = <T extends { name: string }>(vectors: readonly T[], differences: object): T[] =>
  vectors.filter(({ name }) => Object.hasOwn(differences, name));

describe("the reference's 88 admissions", () => {
  it("are all there", () => {
    expect(reference.admission).toHaveLength(88);
    const names = reference.admission.map(({ name }) => name);
    expect(new Set(names).size).toBe(88);
    expect(Object.keys(ADMISSION_DIFFERENCES).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(same(reference.admission, ADMISSION_DIFFERENCES))(
    "get the same verdict, reason and bytes: $name",
    (vector) => {
      expect(admit(vector)).toEqual(vector.expect);
    },
  );

  it.each(other(reference.admission, ADMISSION_DIFFERENCES))(
    "get another verdict or reason where this protocol means it: $name",
    (vector) => {
      const [verdict = "", reason = ""] = ADMISSION_DIFFERENCES[vector.name] ?? [];
      expect(admit(vector)).toEqual({ ...vector.expect, verdict, reason, enqueued: 0 });
      expect([verdict, reason]).not.toEqual([vector.expect.verdict, vector.expect.reason]);
    },
  );
});

describe("the reference's 11 life cycles", () => {
  it("are all there", () => {
    expect(reference.life_cycle).toHaveLength(11);
    const names = reference.life_cycle.map(({ name }) => name);
    expect(Object.keys(LIFE_CYCLE_DIFFERENCES).filter((name) => !names.includes(name))).toEqual([]);
  });

  const theirs = ({ receive, ack, observe: { acked, reflected } }: LifeCycle): unknown => {
    const { verdict, reason, left_in_inbox } = receive;
    return { receive: { verdict, reason, left_in_inbox }, ack, observe: { acked, reflected } };
  };

  it.each(same(reference.life_cycle, LIFE_CYCLE_DIFFERENCES))("take the same course: $name", (vector) => {
    expect(live(vector)).toEqual(theirs(vector));
  });

  it.each(other(reference.life_cycle, LIFE_CYCLE_DIFFERENCES))(
    "take another course where this protocol means it: $name",
    (vector) => {
      const { clause: _clause, ...ours } = LIFE_CYCLE_DIFFERENCES[vector.name] ?? {};
      expect(live(vector)).toEqual(ours);
      expect(ours).not.toEqual(theirs(vector));
    },
  );
});
