import type { NewToken } from "../../src/broker/index.js";
import { operatorToken, type Serve } from "../support/serve.js";
import { AuditedLog } from "./audit.js";
import type { Claim } from "./book.js";
import { LoadClient } from "./client.js";
import { drain } from "./drain.js";
import type { Cast } from "./load.js";

/** Reads the log of a broker from its start: everything that was claimed has to be there, and the log be in order. */
export async function inspect(
  broker: Serve,
  claims: readonly Claim[],
  late?: NewToken,
): Promise<{ log: AuditedLog; lost: string[]; faults: string[] }> {
  const log = await AuditedLog.read(broker.url, operatorToken(broker.data));
  const lost = log.lost(claims);
  if (late !== undefined && !(await isTaken(broker, late.token))) {
    lost.push(`token ${late.id} was made and does not work`);
  }
  return { log, lost, faults: log.broken() };
}

/** Lets the workers take all that is open: everything that was ever admitted has to reach an end. */
export async function inspectDrained(broker: Serve, cast: Cast, log: AuditedLog): Promise<string[]> {
  await drain(broker.url, cast, log.open());
  const after = await AuditedLog.read(broker.url, operatorToken(broker.data));
  return [...after.broken(), ...[...after.open().values()].flat().map((id) => `${id} reached no end`)];
}

async function isTaken(broker: Serve, token: string): Promise<boolean> {
  const client = await LoadClient.connect(broker.url, token, { role: "orchestrator" }, () => {});
  const { open } = client;
  client.close();
  return open;
}
