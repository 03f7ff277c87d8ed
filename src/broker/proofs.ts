import { grantFor } from "../kernel/index.js";
import type { ReplyOf, RequestOf } from "../protocol/index.js";
import type { Parts } from "./parts.js";
import type { Session } from "./session.js";

type Asked = RequestOf<"checkpoint"> | RequestOf<"prove">;

/** Answers `checkpoint` and `prove` from what is durable (PROTOCOL.md section 6, WITNESS-LOG.md). */
export async function prove(parts: Parts, session: Session, request: Asked): Promise<void> {
  const { notary, store } = parts;
  const { id } = request;
  const say = (proof: Omit<ReplyOf<"proof">, "type" | "id">): void => session.reply({ type: "proof", id, ...proof });
  if (request.type === "checkpoint") return say({ checkpoint: notary.checkpoint() });
  const { index, from_size } = request;
  if (index !== undefined) {
    const { checkpoint, hashes } = await notary.inclusion(index);
    const [line] = hashes === undefined ? [] : (await store.read(index, 1)).entries;
    const entry = line !== undefined && mayRead(parts, session, line) ? { entry: line } : {};
    return say({ checkpoint, index, ...encoded(hashes), ...entry });
  }
  if (from_size !== undefined) {
    const { checkpoint, hashes } = await notary.consistency(from_size);
    say({ checkpoint, from_size, ...encoded(hashes) });
  }
}

function encoded(hashes: readonly Uint8Array[] | undefined): { hashes?: string[] } {
  return hashes === undefined ? {} : { hashes: hashes.map((hash) => Buffer.from(hash).toString("base64")) };
}

/** An entry is for auditors, and for those it is about: who moved, the worker that it names, and the sender. */
function mayRead({ core }: Parts, { by, seat }: Session, line: string): boolean {
  if (grantFor(core.state, by, "audit", core.now()) !== undefined) return true;
  const entry = JSON.parse(line) as {
    by: { role: string; subject: string };
    worker_id?: string;
    orchestrator_id?: string;
  };
  if (entry.by.role === by.role && entry.by.subject === by.subject) return true;
  if (seat !== undefined) return entry.worker_id === seat.workerId;
  return by.role === "orchestrator" && entry.orchestrator_id === by.subject;
}
