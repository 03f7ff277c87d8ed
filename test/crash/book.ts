import type { NewToken } from "../../src/broker/index.js";
import type { Frame } from "../support/wire.js";

/** What one answer, or one push, says of the log: it must be found there after any crash. */
export type Claim =
  /** The entry at `index` has these fields. */
  | { what: "entry"; index: number; fields: Readonly<Record<string, unknown>> }
  /** The entry at `index` is exactly this line. */
  | { what: "line"; index: number; line: string }
  /** This worker had a row of this `seq` with this digest. */
  | { what: "row"; worker_id: string; seq: number; digest: string }
  /** The correction was admitted, then, with this message. */
  | { what: "admitted"; correction_id: string; at: number; message: string }
  | { what: "session"; session: string }
  | { what: "grant"; token: string }
  /** The log of this shard has at least so many entries. */
  | { what: "size"; shard: string; size: number };

/** Everything that the broker's clients have read, in the order in which they read it. */
export class Book {
  readonly claims: Claim[] = [];
  /** Replies that were read, the ones that say nothing of the log included. */
  answers = 0;
  /** The token that was made last under load. */
  late: NewToken | undefined;

  /** Notes a frame as it is read. */
  read(frame: Frame): void {
    if ("id" in frame) this.answers += 1;
    this.claims.push(...claimsOf(frame));
  }

  /** Notes a token that was made. */
  granted(made: NewToken): void {
    this.claims.push({ what: "grant", token: made.id });
  }
}

interface Told {
  correction_id: string;
  stage: string;
  index: number;
  at?: number;
}
interface View {
  row?: { worker_id: string; seq: number };
  status_digest?: string;
  worker_id?: string;
  seq?: number;
}

/** What a frame says of the log. */
function claimsOf(frame: Frame): Claim[] {
  switch (frame.type) {
    case "welcome":
      return welcomed(frame as unknown as { cursor: string; session: string; principal: { role: string } });
    case "receipt":
      return receipt(frame);
    case "stage":
      return [stage(frame as unknown as Told), ...rows([frame as View]), ...outcomes(frame)];
    case "row":
      return [...rows([frame as View]), ...outcomes(frame)];
    case "rows":
      return rows(frame["rows"] as View[]);
    case "correction": {
      const { correction_id, admitted_at, message } = frame["correction"] as Record<string, unknown>;
      return [
        { what: "admitted", correction_id: String(correction_id), at: Number(admitted_at), message: String(message) },
      ];
    }
    case "entries":
      return (frame["entries"] as string[]).map((line) => {
        const { index } = JSON.parse(line) as { index: number };
        return { what: "line", index, line };
      });
    default:
      return [];
  }
}

function welcomed({
  cursor,
  session,
  principal,
}: {
  cursor: string;
  session: string;
  principal: { role: string };
}): Claim[] {
  const at = cursor.lastIndexOf(".");
  const size: Claim = { what: "size", shard: cursor.slice(0, at), size: Number(cursor.slice(at + 1)) };
  return principal.role === "worker" ? [size, { what: "session", session }] : [size];
}

function receipt({ index, verdict, correction_id, expires_at, reason, detail }: Frame): Claim[] {
  if (typeof index !== "number") return [];
  const fields =
    verdict === "ALLOW"
      ? { kind: "admitted", correction_id, expires_at }
      : { kind: "refused", reason, ...(detail !== undefined && { detail }) };
  return [{ what: "entry", index, fields }];
}

function stage({ correction_id, stage: reached, index, at }: Told): Claim {
  const fields = { kind: reached.toLowerCase(), correction_id, ...(at !== undefined && { at }) };
  return { what: "entry", index, fields };
}

function outcomes(frame: Frame): Claim[] {
  return ((frame["outcomes"] ?? []) as Told[]).map(stage);
}

/** Views carry a row; the answer to an ack with a plan carries the seq alone. */
function rows(views: readonly View[]): Claim[] {
  return views.flatMap(({ row, status_digest: digest, worker_id, seq }) => {
    const of = row ?? (worker_id !== undefined && seq !== undefined ? { worker_id, seq } : undefined);
    return of === undefined || digest === undefined
      ? []
      : [{ what: "row", worker_id: of.worker_id, seq: of.seq, digest } as const];
  });
}
