import { existsSync } from "node:fs";
import { DamagedLog, LogReader, readHead, systemFiles, type LoggedLine } from "../../storage/journal/index.js";
import { formatVerifierKey, signerKey, type SignerKey } from "../../tlog/index.js";
import { DataDir } from "../data-dir.js";
import { withTightHeap } from "../heap.js";
import { CliError, EXIT } from "../exit.js";

/** The log of a data directory as far as it is durable, read beside the broker that may be writing it. */
export class DurableLog {
  /** Entries that are durable: no more is read, and no more signed. */
  readonly size: number;
  readonly #data: DataDir;

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
    const reader = new LogReader(this.#data.log);
    let next = 0;
    try {
      await withTightHeap(() =>
        reader.read((entry) => {
          if (entry.index < this.size) take(entry);
          next = entry.index + 1;
          return next < this.size;
        }),
      );
    } catch (error) {
      throw error instanceof DamagedLog ? new CliError(error.message) : error;
    } finally {
      await reader.close();
    }
    if (next < this.size)
      throw new CliError(`the log does not check from entry ${next} on; see: a2achan verify ${this.#data.path}`);
  }

  /** The key that signs this log's checkpoints; `first` is the log's first entry. */
  signer(first: string): SignerKey {
    const { origin, log_key } = JSON.parse(first) as { origin: string; log_key: string };
    const key = signerKey(origin, this.#data.logKey());
    if (formatVerifierKey(key) === log_key) return key;
    throw new CliError(
      `${this.#data.path}: keys/log.key is not the key of this log; put back the one that was made with it`,
      EXIT.CONFIG,
    );
  }
}
