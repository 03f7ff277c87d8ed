import { DamagedLog, LogReader } from "../storage/journal/index.js";
import { CliError } from "./exit.js";

/** Lets `work` read the files of a log and closes them; throws a CliError where what is sealed does not check. */
export async function withLogFiles(directory: string, work: (reader: LogReader) => Promise<void>): Promise<void> {
  const reader = new LogReader(directory);
  try {
    await work(reader);
  } catch (error) {
    throw error instanceof DamagedLog ? new CliError(error.message) : error;
  } finally {
    await reader.close();
  }
}
