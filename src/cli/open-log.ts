import { WrongKeys, type TokenHashes } from "../broker/index.js";
import type { EventStore } from "../storage/event-store.js";
import { DamagedLog, Journal } from "../storage/journal/index.js";
import { MemoryStore } from "../storage/memory.js";
import type { DataDir } from "./data-dir.js";
import { CliError, EXIT } from "./exit.js";

/** The log of a data directory with what belongs to it. */
export interface OpenLog {
  store: EventStore;
  idKey: Uint8Array;
  logKey: Uint8Array;
  hashes: TokenHashes;
}

/** The sentence for a broker that cannot go on with a log; other errors are thrown on. */
export function whyNot(error: unknown, data: DataDir): never {
  if (!(error instanceof WrongKeys)) throw error;
  throw new CliError(`${data.path}: ${error.message}; put the keys back that were made with it`, EXIT.CONFIG);
}

/** Opens the log of a directory that this process has locked; `memory`: one that ends with the process. */
export async function openLog(data: DataDir, options: { memory?: boolean; head?: string }): Promise<OpenLog> {
  // The keys are made and synced before the first entry: without its own a log could not go on.
  const keys = { idKey: data.idKey(), logKey: data.logKey() };
  const hashes = data.hashes();
  if (options.memory === true) return { store: new MemoryStore(), ...keys, hashes };
  try {
    const store = await Journal.open({
      directory: data.log,
      ...(options.head !== undefined && { head: options.head }),
    });
    return { store, ...keys, hashes };
  } catch (error) {
    if (error instanceof DamagedLog) throw new CliError(`${data.log}: ${error.message}`, EXIT.FAILED);
    throw error;
  }
}
