import type { TextLine } from "../../kernel/index.js";
import { readBatches } from "./batches.js";
import { DamagedLog } from "./damage.js";
import type { Head } from "../event-store.js";
import { systemFiles, type File, type Files } from "./files.js";
import { segmentPath } from "./segments.js";
import { textsByEntry } from "../texts.js";

/** One entry as it lies on the disk, with those of its texts that are there. */
export interface LoggedLine {
  index: number;
  line: string;
  texts: readonly TextLine[];
  /** What its batch says of the log up to here, where it is the last entry of one. */
  head?: Head;
}

/** Reads a log from its files, beside a broker that may be writing it: only whole batches, one batch in memory. */
export class LogReader {
  readonly #directory: string;
  readonly #files: Files;
  #ordinal = 0;
  #file: File | undefined;
  #offset = 0;
  #next = 0;
  #broken: string | undefined;

  /** `directory` is where the segments lie. */
  constructor(directory: string, files: Files = systemFiles) {
    this.#directory = directory;
    this.#files = files;
  }

  /** Index of the entry that comes next. */
  get next(): number {
    return this.#next;
  }

  /** What is wrong behind the last whole batch: perhaps no more than that it is being written. */
  get broken(): string | undefined {
    return this.#broken;
  }

  /**
   * Gives every entry that is there now and was not given yet; call again for later ones. Stops early when `take` says
   * false. Throws DamagedLog for a sealed segment that does not check; an incomplete last batch is waited for.
   */
  async read(take: (entry: LoggedLine) => boolean | void): Promise<void> {
    for (;;) {
      this.#file ??= await this.#open(this.#ordinal);
      if (this.#file === undefined) return;
      const sealed = await this.#files.exists(segmentPath(this.#directory, this.#ordinal + 1));
      let stopped = false;
      const { offset, broken } = await readBatches(
        this.#file,
        this.#offset,
        this.#next,
        ({ entries, texts, line, end }) => {
          const opened = textsByEntry(texts);
          for (const [at, entry] of entries.entries()) {
            const index = line.first + at;
            const text = Buffer.from(entry.buffer, entry.byteOffset, entry.length).toString("utf8");
            const own = opened.get(index) ?? [];
            const head = index === line.size - 1 ? { head: { size: line.size, root: line.root } } : {};
            if (!stopped && take({ index, line: text, texts: own, ...head }) === false) stopped = true;
          }
          this.#offset = end;
          this.#next = line.size;
          return !stopped;
        },
      );
      this.#broken = broken;
      if (stopped || !sealed) return;
      if (broken !== undefined) throw new DamagedLog(this.#next, `${broken} (at byte ${offset} of its segment)`);
      await this.close();
      this.#ordinal += 1;
      this.#offset = 0;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #open(ordinal: number): Promise<File | undefined> {
    const path = segmentPath(this.#directory, ordinal);
    return (await this.#files.exists(path)) ? this.#files.open(path, "read") : undefined;
  }
}
