import { Broker } from "../broker/index.js";
import { handleAdmin } from "./admin.js";
import { askControl, type ControlRequest } from "./control.js";
import { DataDir } from "./data-dir.js";
import { lockDirectory } from "./lock.js";
import { openLog, whyNot } from "./open-log.js";
import { VERSION } from "./version.js";

/** Asks the broker that runs on the directory; with none alive, takes the directory and does it itself. */
export async function administer(path: string, request: ControlRequest): Promise<unknown> {
  const data = new DataDir(path, false);
  const reply = await askControl(data.controlSocket, request);
  if (reply !== undefined) return reply.result;
  using _lock = await lockDirectory(data.path);
  const log = await openLog(data, {});
  const broker = await Broker.open({ ...log, version: VERSION }).catch(async (error: unknown) => {
    await log.store.close();
    return whyNot(error, data);
  });
  try {
    return await handleAdmin(broker, request);
  } finally {
    await broker.stop();
  }
}
