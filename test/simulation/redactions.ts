import type { Parsed } from "../../src/protocol/index.js";
import type { Outgoing } from "../../src/broker/index.js";
import type { KernelEvent, TextLine } from "../../src/kernel/index.js";
import type { TextPlace } from "../../src/storage/event-store.js";
import { commitmentOf } from "../../src/storage/texts.js";
import type { SimDisk } from "../support/sim-files.js";
import type { Cable } from "./cable.js";
import type { Report } from "./clauses.js";
import type { Ledger } from "./ledger.js";

type Frame = Outgoing["frame"];

/** What was answered to be gone: after how many others, and how many entries were durable then. */
interface Gone {
  ordinal: number;
  size: number;
}

/** Which texts the log has had, which of them an operator was told to be gone, and whether that is so. */
export class Redactions {
  readonly #ledger: Ledger;
  readonly #report: Report;
  /** The lines of each text by what it opens: a plan's summary has one of its own with the row. */
  readonly #texts = new Map<string, TextLine[]>();
  /** Of each text that is redacted: the first entry that says so, which is durable. */
  readonly #named = new Map<string, number>();
  readonly #gone = new Map<string, Gone>();
  readonly #asked = new WeakMap<Cable, Map<string, number>>();
  #size = 0;

  constructor(ledger: Ledger, report: Report) {
    this.#ledger = ledger;
    this.#report = report;
  }

  /** Texts of which the log does not say that they are gone, by entry and field; one with two lines once. */
  get left(): TextLine[] {
    return [...this.#texts].flatMap(([committed, [first]]) =>
      first === undefined || this.#named.has(committed) ? [] : [first],
    );
  }

  /** Texts of which the log says that they are gone. */
  get named(): number {
    return this.#named.size;
  }

  /** Takes in what has become durable, when the ledger has. */
  durable(texts: readonly TextLine[]): void {
    for (const text of texts) {
      const committed = commitmentOf(text);
      this.#texts.set(committed, [...(this.#texts.get(committed) ?? []), text]);
    }
    for (const event of this.#ledger.events.slice(this.#size)) {
      if (event.kind === "redacted") this.#redacted(event, this.#size);
      this.#size += 1;
    }
  }

  /** Only what opens nothing that is needed is redacted, and it is called by the entry that brought it. */
  #redacted({ entry, field, committed }: Extract<KernelEvent, { kind: "redacted" }>, index: number): void {
    const [first] = this.#texts.get(committed) ?? [];
    if (first?.index !== entry || first.field !== field)
      this.#report("kept", `entry ${index} redacts a ${field} that entry ${entry} did not bring`);
    const { open, row } = this.#ledger.book.needed();
    if (open.has(committed) || row.has(committed))
      this.#report("kept", `entry ${index} redacts a ${field} that is needed`);
    if (!this.#named.has(committed)) this.#named.set(committed, index);
  }

  /** The operator is told in this turn that texts are gone; told later how far the head on the disk reached then. */
  answered(places: readonly TextPlace[], disk: SimDisk): (head: number) => void {
    const named = places.map(({ committed }) => this.#named.get(committed) ?? Number.POSITIVE_INFINITY);
    for (const [at, { index, field, committed }] of places.entries()) {
      if (named[at] === undefined || named[at] >= this.#size)
        this.#report("kept", `the ${field} of entry ${index} is gone without a word`);
      this.#gone.set(committed, { ordinal: this.#gone.size, size: this.#size });
    }
    this.#erased(disk, [...this.#gone.keys()]);
    return (head) => {
      const last = Math.max(...named);
      if (head <= last) this.#report("kept", `the text that entry ${last} names is gone, and the head is at ${head}`);
    };
  }

  /** What the log says to be gone is so when a broker has started on it, whoever said it did not live to do. */
  started(disk: SimDisk): void {
    this.#erased(disk, [...this.#named.keys()]);
  }

  #erased(disk: SimDisk, committed: readonly string[]): void {
    for (const { index, field, salt } of committed.flatMap((one) => this.#texts.get(one) ?? []))
      if (disk.holds(salt)) this.#report("gone", `the ${field} of entry ${index} is still on the disk`);
  }

  /** What nobody redacted is there: `texts` are those that a start, or a reader of the whole log, found. */
  found(texts: readonly TextLine[]): void {
    const there = new Set(texts.map(({ index, salt }) => `${index} ${salt}`));
    for (const { index, field, salt } of this.left)
      if (!there.has(`${index} ${salt}`)) this.#report("kept", `the ${field} of entry ${index} is lost`);
  }

  asked(cable: Cable, parsed: Parsed | undefined): void {
    if (parsed?.kind !== "request") return;
    const own = this.#asked.get(cable) ?? new Map<string, number>();
    this.#asked.set(cable, own.set(parsed.request.id, this.#gone.size));
  }

  /** What leaves the broker has no text in it that was answered to be gone before it was asked for. */
  leaves(cable: Cable, frame: Frame): void {
    if (this.#gone.size === 0) return;
    if (frame.type === "entries") {
      const asked = "id" in frame ? (this.#asked.get(cable)?.get(frame.id) ?? 0) : 0;
      const reaches = (JSON.parse(frame.entries.at(-1) ?? '{"index":-1}') as { index: number }).index;
      for (const text of frame.texts ?? []) {
        const gone = this.#gone.get(commitmentOf(text as TextLine));
        if (gone !== undefined && (gone.ordinal < asked || gone.size <= reaches))
          this.#report("gone", `the ${text.field} of entry ${text.index} is served`);
      }
    } else if (frame.type === "correction") {
      const { message } = this.#ledger.book.corrections.get(frame.correction.correction_id)?.content ?? {};
      if (this.#gone.has(message?.commitment ?? ""))
        this.#report("gone", `the message of ${frame.correction.correction_id} is pushed`);
    }
  }
}
