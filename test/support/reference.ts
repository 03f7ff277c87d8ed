import { jsonCodec } from "../../src/codec/json.js";
import { STATUS_SCHEMA, parseRequest, workerStatus } from "../../src/protocol/index.js";
import type { Step } from "../../src/kernel/index.js";
import { TestKernel, refusalOf } from "./kernel.js";
import {
  bytesOf,
  requestOf,
  subjectOf,
  type Admission,
  type Fields,
  type Judged,
  type LifeCycle,
} from "./reference-vectors.js";

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

/** Verdict, reason and bytes of one admission, by the way that every frame takes: codec, shape, kernel. */
export function admit(vector: Admission): Admission["expect"] {
  const { caps, row, request } = vector;
  const kernel = new TestKernel();
  publish(kernel, row);
  const subject = subjectOf(vector);
  kernel.grant("orchestrator", subject, caps.includes("a2a.send") ? {} : { verbs: ["watch"] });
  const current = kernel.worker(String(row["worker_id"]))?.digest ?? "none";
  const decoded = jsonCodec.decode(requestOf(vector, current));
  if (!decoded.ok) {
    const { message_b64 = "" } = request;
    return { verdict: "CLOSE", reason: "4400", bytes: Buffer.from(message_b64, "base64").length, enqueued: 0 };
  }
  const step = kernel.frame(subject, decoded.value);
  const enqueued = kernel.worker(request["worker_id"] ?? "")?.open.size ?? 0;
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
