import type { TestBroker } from "../../../support/broker.js";

/** An entry of the witness log, as an auditor reads it. */
export type Entry = Record<string, unknown>;

/** Stages that no correction leaves. */
export const ENDS = [
  "WITNESSED",
  "UNREFLECTED",
  "DECLINED",
  "EXPIRED",
  "WITHDRAWN",
  "SUPERSEDED",
  "STALE",
  "ORPHANED",
  "REVOKED",
];
const STAGES = ["ADMITTED", "DELIVERED", "ACKED", ...ENDS];

/** The entries of one kind in the whole log. */
export async function entriesOf(broker: TestBroker, kind: string): Promise<Entry[]> {
  return (await broker.entries()).filter((entry) => entry["kind"] === kind);
}

/** One stage of a correction: what it became, and by which entry. */
export interface Step {
  correction_id: string;
  stage: string;
  index: number;
}

/** The stages of every correction by the log alone. A receipt by a later session sets none. */
export function stepsIn(entries: readonly Entry[]): Step[] {
  return entries.flatMap((entry) => {
    const stage = String(entry["kind"]).toUpperCase();
    if (!STAGES.includes(stage) || (stage === "DELIVERED" && received(entries, entry))) return [];
    return [{ correction_id: String(entry["correction_id"]), stage, index: Number(entry["index"]) }];
  });
}

function received(entries: readonly Entry[], { correction_id, index }: Entry): boolean {
  const first = entries.find((entry) => entry["kind"] === "delivered" && entry["correction_id"] === correction_id);
  return first?.["index"] !== index;
}
