import { existsSync } from "node:fs";
import { readHead, systemFiles, type LoggedLine } from "../../storage/journal/index.js";
import { formatVerifierKey, signerKey, type SignerKey } from "../../tlog/index.js";
import { DataDir } from "../data-dir.js";
import { withTightHeap } from "../heap.js";
import { CliError, EXIT } from "../exit.js";
import { withLogFiles } from "../log-files.js";

/** The log of a data directory as far as it is durable, read beside the broker that may be writing it. */
export class DurableLog {
  /** Entries that are durable: no more is read, and no more signed. */
  readonly size: number;
  readonly #data: DataDir;
  #opened: { origin: string; log_key: string } | undefined;

  private constructor(data: DataDir, size: number) {
    this.#data = data;
    this.size = size;
  }

  /** `headFile`: where the durable head is kept, if not in the directory. */
  static async open(path: string, headFile?: string): Promise<DurableLog> {
    const data = new DataDir(path, false);
    const head = await readHead(systemFiles, headFile ?? data.head);
    if (head === undefined || head.size === 0 || !existsSync(data.log))
      throw new CliError(
        `${data.path} holds no log whose head is known; if it is elsewhere, name it: --head`,
        EXIT.CONFIG,
      );
    return new DurableLog(data, head.size);
  }

  /** Gives every entry, in order; throws a CliError where the log does not check. */
  async read(take: (entry: LoggedLine) => void): Promise<void> {
    let next = 0;
    const each = (entry: LoggedLine): boolean => {
      this.#opened ??= JSON.parse(entry.line) as { origin: string; log_key: string };
      if (entry.index < this.size) take(entry);
      next = entry.index + 1;
      return next < this.size;
    };
    await withLogFiles(this.#data.log, (reader) => withTightHeap(() => reader.read(each)));
    if (next < this.size)
      throw new CliError(`the log does not check from entry ${next} on; see: a2achan verify ${this.#data.path}`);
  }

  /** What the log's checkpoints are checked with, `ORIGIN+ID+BASE64`, as its first entry says; known once it was read. */
  get logKey(): string {
    return this.#first.log_key;
  }

  /** The key that signs this log's checkpoints; known once it was read. */
  signer(): SignerKey {
    const key = signerKey(this.#first.origin, this.#data.logKey());
    if (formatVerifierKey(key) === this.logKey) return key;
    throw new CliError(
      `${this.#data.path}: keys/log.key is not the key of this log; put back the one that was made with it`,
      EXIT.CONFIG,
    );
  }

  get #first(): { origin: string; log_key: string } {
    if (this.#opened === undefined) throw new Error("the log was not read");
    return this.#opened;
  }
}
