import { hash } from "node:crypto";
import type { State } from "../kernel/index.js";

/** The keys at hand are not those that a log was opened with. */
export class WrongKeys extends Error {}

/** What a log says of the secret key of its correction ids, so that another one is noticed: a hash, in hex. */
export function keyCommitment(idKey: Uint8Array): string {
  return hash("sha256", Buffer.concat([Buffer.from("a2achan/id-key/v1\0"), idKey]), "hex");
}

/** Throws WrongKeys unless the keys are those of the log, if there is one already. */
export function requireOwn(opened: State["opened"], keys: { log_key: string; id_key: string }): void {
  if (opened === undefined) return;
  if (opened.id_key !== keys.id_key) throw new WrongKeys("the key of correction ids is not the one of this log");
  if (opened.log_key !== keys.log_key) throw new WrongKeys("the key of checkpoints is not the one of this log");
}
