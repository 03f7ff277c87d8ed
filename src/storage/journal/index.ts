export { DamagedLog } from "./damage.js";
export { Journal, type JournalOptions } from "./journal.js";
export { LogReader, type LoggedLine } from "./reader.js";
