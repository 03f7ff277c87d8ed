import type { TokenHashes } from "../broker/index.js";
import type { EventStore } from "../storage/event-store.js";
import { DamagedLog, Journal } from "../storage/journal/index.js";
import { MemoryStore } from "../storage/memory.js";
import type { DataDir } from "./data-dir.js";
import { CliError, EXIT } from "./exit.js";

/** The log of a data directory with what belongs to it. */
export interface OpenLog {
  store: EventStore;
  idKey: Uint8Array;
  hashes: TokenHashes;
}

/** Opens the log of a directory that this process has locked; `memory`: one that ends with the process. */
export async function openLog(data: DataDir, options: { memory?: boolean; head?: string }): Promise<OpenLog> {
  // The key is made and synced before the first entry; a log without its key can make no ids that fit it.
  const idKey = data.idKey();
  const hashes = data.hashes();
  if (options.memory === true) return { store: new MemoryStore(), idKey, hashes };
  try {
    const store = await Journal.open({
      directory: data.log,
      ...(options.head !== undefined && { head: options.head }),
    });
    return { store, idKey, hashes };
  } catch (error) {
    if (error instanceof DamagedLog) throw new CliError(`${data.log}: ${error.message}`, EXIT.FAILED);
    throw error;
  }
}
