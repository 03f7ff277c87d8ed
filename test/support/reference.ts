import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jsonCodec } from "../../src/codec/json.js";
import { STATUS_SCHEMA, parseRequest, workerStatus } from "../../src/protocol/index.js";
import type { Step } from "../../src/kernel/index.js";
import { TestKernel, refusalOf } from "./kernel.js";

type Fields = Readonly<Record<string, string | boolean>>;
interface Judged {
  verdict: string;
  reason: string;
}

/** One admission of the reference: its row, its request, and what it answered. */
export interface Admission {
  name: string;
  caps: string[];
  row: Fields;
  request: Readonly<Record<string, string>>;
  expect: Judged & { bytes: number; enqueued: number };
}

/** One life cycle of the reference: the row at each moment, and what was answered then. */
export interface LifeCycle {
  name: string;
  summary: string;
  row_at_send: Fields;
  row_at_receive: Fields;
  row_at_ack: Fields;
  receive: Judged & { left_in_inbox: number };
  ack?: Judged;
  observe: { acked: boolean; reflected: boolean };
}

const path = fileURLToPath(new URL("../../spec/vectors/reference-admission.json", import.meta.url));
export const reference = JSON.parse(readFileSync(path, "utf8")) as {
  max_bytes: number;
  admission: Admission[];
  life_cycle: LifeCycle[];
};

/** The reference's zero values say that a field is not given; this vector is about the zero itself. */
const ZERO_IS_MEANT = "allow: max_bytes 0 -> 1024";

/** What a request cites that does not cite the current digest, where a vector is about the way in which it is wrong. */
const WRONG_DIGESTS: Readonly<Record<string, (current: string) => string>> = {
  "unwitnessed: digest upper-case hex": (current) => `sha256:${current.slice(7).toUpperCase()}`,
  "unwitnessed: digest without prefix": (current) => current.slice(7),
  "unwitnessed: digest with trailing space": (current) => `${current} `,
};

/** Publishes a row of the reference, with its seq and liveness, if such a row can exist. */
function publish(kernel: TestKernel, row: Fields): void {
  const { issue, task_id, lane, last_action, worker_id, live, seq } = row as Record<string, string>;
  const fields = { issue, lane, ...(task_id !== "" && { task_id }), ...(last_action !== "" && { last_action }) };
  const wire = { schema: STATUS_SCHEMA, ...fields, worker_id, live, seq: Number(seq) };
  if (worker_id === undefined || !workerStatus.safeParse(wire).success) return;
  kernel.grant("worker", worker_id);
  kernel.connect(worker_id);
  const published = live ? Number(seq) : Number(seq) - 1;
  for (let n = 1; n < published; n += 1) kernel.status(worker_id, { ...fields, last_action: `before, ${n}` } as object);
  kernel.status(worker_id, fields as object);
  if (!live) kernel.lapse(worker_id);
}

/** The frame's bytes as a client sends them; a lone `\ufffd` stands for bytes that are no UTF-8. */
function bytesOf(frame: object, raw?: Uint8Array): Uint8Array {
  const text = JSON.stringify(frame);
  if (raw === undefined) return Buffer.from(text);
  const [before = "", after = ""] = text.split("\ufffd");
  return Buffer.concat([Buffer.from(before), raw, Buffer.from(after)]);
}

/** Verdict, reason and bytes of one admission, by the way that every frame takes: codec, shape, kernel. */
export function admit({ name, caps, row, request }: Admission): Admission["expect"] {
  const kernel = new TestKernel();
  publish(kernel, row);
  const { worker_id = "", issue, task_id, lane, message, message_b64, max_bytes, orchestrator_id = "" } = request;
  const subject = orchestrator_id === "orch2" ? "orch2" : "orch";
  kernel.grant("orchestrator", subject, caps.includes("a2a.send") ? {} : { verbs: ["watch"] });
  const current = kernel.worker(String(row["worker_id"]))?.digest ?? "none";
  const cited = request["status_digest"];
  const wrong = WRONG_DIGESTS[name]?.(current) ?? "sha256:of another row";
  const frame = {
    type: "correct",
    id: "1",
    worker_id,
    issue,
    lane,
    message: message ?? "\ufffd",
    orchestrator_id,
    ...(task_id !== "" && { task_id }),
    ...(cited !== "none" && { status_digest: cited === "current" ? current : wrong }),
    ...((max_bytes !== "0" || name === ZERO_IS_MEANT) && { max_bytes: Number(max_bytes) }),
  };
  const raw = message_b64 === undefined ? undefined : Buffer.from(message_b64, "base64");
  const decoded = jsonCodec.decode(bytesOf(frame, raw));
  if (!decoded.ok) return { verdict: "CLOSE", reason: "4400", bytes: raw?.length ?? -1, enqueued: 0 };
  const step = kernel.frame(subject, decoded.value);
  const enqueued = kernel.worker(worker_id)?.open.size ?? 0;
  return { ...judged(step), bytes: messageBytes(step), enqueued };
}

/** How a life cycle of the reference goes here. */
export function live({ name, summary, ...rows }: LifeCycle): Pick<LifeCycle, "receive" | "ack" | "observe"> {
  const kernel = new TestKernel();
  kernel.grant("orchestrator", "orch");
  publish(kernel, rows.row_at_send);
  const { worker_id, issue, task_id, lane } = rows.row_at_send as Record<string, string>;
  const { answer } = kernel.correct("orch", { worker_id, issue, task_id, lane });
  if (answer.kind !== "admitted" || worker_id === undefined) throw new Error(`${name}: not admitted`);
  const id = answer.correctionId;

  move(kernel, rows.row_at_send, rows.row_at_receive);
  const received = judged(kernel.receive(worker_id, id));
  const left_in_inbox = kernel.correction(id).stage === "ADMITTED" ? 1 : 0;
  // The reference comes to the ack only when it did not refuse the receipt.
  if (rows.ack !== undefined) move(kernel, rows.row_at_receive, rows.row_at_ack);
  if (name === "ack without capability") kernel.grant("worker", worker_id, { verbs: ["publish", "receive"] });
  const ack = acked(kernel, worker_id, id, summary);
  const { acked: isAcked, stage } = kernel.correction(id);
  return {
    receive: { ...received, left_in_inbox },
    ack,
    observe: { acked: isAcked, reflected: stage === "WITNESSED" },
  };
}

/** Moves the worker's row by what differs between two rows of the reference; its seq follows by itself. */
function move(kernel: TestKernel, before: Fields, after: Fields): void {
  const worker_id = String(before["worker_id"]);
  const { issue, task_id, lane, last_action } = after as Record<string, string>;
  const fields = { issue, task_id, lane, last_action };
  if (after["live"] === false) kernel.lapse(worker_id);
  else if (after["seq"] === "8") kernel.status(worker_id, { ...fields, last_action: "one row further" } as object);
  else kernel.status(worker_id, fields as object);
}

function acked(kernel: TestKernel, worker_id: string, correction_id: string, summary: string): Judged {
  const { status_digest = "" } = kernel.correction(correction_id).content;
  const next_action = { summary, reflects: [correction_id] };
  const frame = { type: "ack", id: "1", correction_id, status_digest, next_action };
  const decoded = jsonCodec.decode(bytesOf(frame, summary === "\ufffd" ? Uint8Array.of(0xff) : undefined));
  if (!decoded.ok) return { verdict: "CLOSE", reason: "4400" };
  const parsed = parseRequest(decoded.value);
  if (parsed.kind === "request" && parsed.request.type === "ack") {
    return judged(kernel.ack(worker_id, correction_id, parsed.request.next_action));
  }
  if (parsed.kind !== "malformed") throw new Error("no ack");
  return judged(kernel.malformed(worker_id, parsed.malformed, { role: "worker" }));
}

/** A `stage` answer is a verdict by where the correction stands: an end that came first is named as the reason. */
function judged(step: Step): Judged {
  const { answer } = step;
  const refusal = refusalOf(step);
  if (refusal !== undefined) return { verdict: "DENY", reason: refusal.reason };
  if (answer.kind === "stage" && step.events.length === 0) return { verdict: "DENY", reason: "ended" };
  return { verdict: "ALLOW", reason: "" };
}

function messageBytes({ events }: Step): number {
  const [event] = events;
  return event !== undefined && "content" in event ? (event.content?.message.bytes ?? -1) : -1;
}
