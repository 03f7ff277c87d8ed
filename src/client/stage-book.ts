import type { PushOf, Stage } from "../protocol/index.js";
import { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import { Course, type Outcome, type StageNotice } from "./course.js";
import type { A2achanError } from "./errors.js";
import { streamOf } from "./stream.js";

/** Ended corrections that are remembered, so that a late repeat of a stage is told nobody twice. */
const REMEMBERED = 1_024;

/**
 * The stages of the sender's corrections, each once and in order, whichever way they came: by receipt, push, resume or
 * reply. And the cursor from which the broker tells the rest.
 */
export class StageBook {
  readonly #open = new Map<string, Course>();
  readonly #over = new Map<string, Course>();
  readonly #readers = new Set<(notice: StageNotice) => void>();
  readonly #bell = new Bell();
  #cursor: string | undefined;
  #cursorIndex = -1;
  #ended: A2achanError | undefined;

  /** Where to resume; undefined before the first welcome. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** A session begins that does not go on where the last one broke off: the first one, or one behind a gap. */
  begin(cursor: string): void {
    this.#cursor = cursor;
    this.#cursorIndex = -1;
    for (const [id, { awaited }] of this.#open) if (!awaited) this.#open.delete(id);
  }

  pushed({ type: _type, cursor, ...notice }: PushOf<"stage">): void {
    // After a gap the open corrections are told in no order of their entries; going back would only repeat more.
    if (cursor !== undefined && notice.index > this.#cursorIndex) {
      this.#cursor = cursor;
      this.#cursorIndex = notice.index;
    }
    this.tell(notice);
  }

  /** Tells a stage to all who listen, unless it or a later one was told before. */
  tell(notice: StageNotice): void {
    const id = notice.correction_id;
    const course = this.#course(id);
    if (!course.tell(notice)) return;
    if (course.over) this.#close(id, course);
    for (const read of this.#readers) read(notice);
    this.#bell.ring();
  }

  /** `tell`, for what was asked about a correction that may be long over: news only if it is followed here. */
  answered(notice: StageNotice): void {
    if (this.#open.get(notice.correction_id)?.awaited === true) this.tell(notice);
  }

  /** Whether this stage of the correction, or a later one, has been told. */
  knows(correctionId: string, stage: Stage): boolean {
    return this.#course(correctionId).knows(stage);
  }

  /** The open corrections whose end somebody waits for. */
  awaited(): string[] {
    return [...this.#open].filter(([, { awaited }]) => awaited).map(([id]) => id);
  }

  /** Nobody can say any more how a correction ends. */
  lose(correctionId: string, error: A2achanError): void {
    this.#open.get(correctionId)?.fail(error);
    this.#open.delete(correctionId);
  }

  /** Follows one correction to its end. */
  follow(correctionId: string): { outcome: Promise<Outcome>; stages: Course["stages"] } {
    const course = this.#course(correctionId);
    course.awaited = true;
    if (this.#ended !== undefined) course.fail(this.#ended);
    const outcome = course.outcome();
    // Nobody has to wait for it.
    outcome.catch(() => {});
    return { outcome, stages: (options) => course.stages(options) };
  }

  /** Every stage of the sender's corrections from now on. */
  stages(options?: CallOptions): AsyncIterableIterator<StageNotice> {
    const waiting: StageNotice[] = [];
    const read = (notice: StageNotice): void => void waiting.push(notice);
    this.#readers.add(read);
    const source = {
      bell: this.#bell,
      take: () => waiting.shift(),
      state: () => this.#ended,
      leave: () => void this.#readers.delete(read),
    };
    return streamOf(source, options);
  }

  end(error: A2achanError): void {
    this.#ended = error;
    for (const course of this.#open.values()) course.fail(error);
    this.#bell.ring();
  }

  #course(id: string): Course {
    const known = this.#open.get(id) ?? this.#over.get(id);
    if (known !== undefined) return known;
    const course = new Course();
    this.#open.set(id, course);
    return course;
  }

  #close(id: string, course: Course): void {
    this.#open.delete(id);
    this.#over.set(id, course);
    const [oldest] = this.#over.keys();
    if (this.#over.size > REMEMBERED && oldest !== undefined) this.#over.delete(oldest);
  }
}
