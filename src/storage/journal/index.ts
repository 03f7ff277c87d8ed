export { DamagedLog } from "./damage.js";
export { systemFiles } from "./files.js";
export { readHead } from "./head.js";
export { Journal, type JournalOptions } from "./journal.js";
export { ENTRY_START, parseText, textLine } from "./lines.js";
export { LogReader, type LoggedLine } from "./reader.js";
