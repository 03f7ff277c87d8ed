import type { Mutant } from "./mutant.js";
import { ADMISSION } from "./table/admission.js";
import { CLIENTS } from "./table/clients.js";
import { DELIVERY } from "./table/delivery.js";
import { DURABLE } from "./table/durable.js";
import { ENDS } from "./table/ends.js";
import { FRAMES } from "./table/frames.js";
import { GRANTS } from "./table/grants.js";
import { LIVENESS } from "./table/liveness.js";
import { PLANS } from "./table/plans.js";
import { PROOFS } from "./table/proofs.js";
import { RECEIPTS } from "./table/receipts.js";
import { RECOVERY } from "./table/recovery.js";
import { REFUSALS } from "./table/refusals.js";
import { RESUME } from "./table/resume.js";
import { ROWS } from "./table/rows.js";
import { SCANNER } from "./table/scanner.js";
import { TEXTS } from "./table/texts.js";
import { WITNESS } from "./table/witness.js";

/** Every mutant, by area. */
export const TABLE: Readonly<Record<string, readonly Mutant[]>> = {
  admission: ADMISSION,
  receipts: RECEIPTS,
  delivery: DELIVERY,
  plans: PLANS,
  ends: ENDS,
  rows: ROWS,
  liveness: LIVENESS,
  grants: GRANTS,
  refusals: REFUSALS,
  durable: DURABLE,
  recovery: RECOVERY,
  resume: RESUME,
  scanner: SCANNER,
  texts: TEXTS,
  frames: FRAMES,
  clients: CLIENTS,
  proofs: PROOFS,
  witness: WITNESS,
};
