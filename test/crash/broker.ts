import { handleAdmin } from "../../src/cli/admin.js";
import { serveControl } from "../../src/cli/control.js";
import { DataDir } from "../../src/cli/data-dir.js";
import { createBroker } from "../../src/index.js";
import { systemFiles, type File, type Files } from "../../src/storage/journal/files.js";
import { Journal } from "../../src/storage/journal/index.js";

/** Files of which nothing is ever made durable: each sync says that it was done, and was not. */
const unsynced: Files = {
  ...systemFiles,
  open: async (path, mode) => withoutSync(await systemFiles.open(path, mode)),
  syncDirectory: () => Promise.resolve(),
};

function withoutSync(file: File): File {
  return {
    write: (data, position) => file.write(data, position),
    read: (into, position) => file.read(into, position),
    sync: () => Promise.resolve(),
    size: () => file.size(),
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
  };
}

// A broker as `serve` runs it, on the directory that is named first; with `--unsynced` behind it, one that lies.
const [directory = "", lies] = process.argv.slice(2);
const data = new DataDir(directory, true);
const keys = { idKey: data.idKey(), logKey: data.logKey() };
const hashes = data.hashes();
const store = await Journal.open({ directory: data.log, files: lies === "--unsynced" ? unsynced : systemFiles });
// Limits that do not hold the load up.
const limits = { frames_per_second: 10_000, frames_burst: 10_000, admitted_per_window: 200, digests_per_window: 200 };
const running = await createBroker({ store, ...keys, hashes, limits });
const operator = data.operator();
if (!running.broker.isGranted(operator.id)) await running.adoptOperator(operator);
await serveControl(data.controlSocket, (request) => handleAdmin(running.broker, request));
console.log(JSON.stringify({ url: running.url, http: running.http }));
process.once("SIGTERM", () => void running.stop().then(() => process.exit(0)));
