import { encodeEntry, type KernelEvent } from "../../src/kernel/index.js";
import { LIMITS, commitment } from "../../src/protocol/index.js";
import { Frontier, leafHash, signCheckpoint } from "../../src/tlog/index.js";
import type { LoggedLine } from "../../src/storage/journal/index.js";
import { admittedId, LOG_SIGNER, TestKernel } from "./kernel.js";

/** Kinds of which the rules make each member anew, so that a replay needs no shape of them. */
export const MADE_ANEW: readonly string[] = ["delivered", "acked", "witnessed", "unreflected", "superseded", "stale"];

/** A correction of `w-1` that its next planned action can be made to name. */
function sent(kernel: TestKernel, fields: Parameters<TestKernel["correct"]>[1] = {}): string {
  kernel.now += 1_000;
  return admittedId(
    kernel.correct("orch", { key: `k-${kernel.state.size}`, message: `Note ${kernel.state.size}.`, ...fields }),
  );
}

/**
 * A log in which every kind of entry and every end of a correction occurs, and then so many corrections more. From the
 * first step at or after entry `later` on, all of it happens a millisecond later: another history, and as good a one.
 */
export function everyKind(more = 0, later = Number.POSITIVE_INFINITY): LoggedLine[] {
  const kernel = new TestKernel(LIMITS, later === 0 ? 1_000_001 : 1_000_000);
  const entries = recorded(kernel, later);
  for (const subject of ["orch", "other"]) kernel.grant("orchestrator", subject);
  for (const subject of ["w-1", "w-2"]) {
    kernel.grant("worker", subject);
    kernel.connect(subject);
  }
  kernel.status("w-1", { task_id: "T-9", last_action: "read the issue" });
  kernel.status("w-1", { last_action: "opened parser.ts" });

  const witnessed = sent(kernel);
  kernel.receive("w-1", witnessed);
  kernel.ack("w-1", witnessed, { summary: "rename the parser", reflects: [witnessed], via: "plan" });
  const echoed = sent(kernel);
  kernel.ack("w-1", echoed, { summary: "rename the parser", reflects: [echoed] });
  const unreflected = sent(kernel);
  kernel.ack("w-1", unreflected);
  kernel.status("w-1", { next_action: { summary: "write tests" } });
  kernel.decline("w-1", sent(kernel));
  kernel.withdraw("orch", sent(kernel));
  const replaced = sent(kernel);
  sent(kernel, { supersedes: replaced, priority: "halt" });

  const late = sent(kernel, { ttl_ms: 5_000 });
  const windowed = sent(kernel, { ttl_ms: 5_000 });
  kernel.ack("w-1", windowed);
  kernel.now += 20_000;
  kernel.tick();
  kernel.ack("w-1", late);

  sent(kernel, { freshness: "exact" });
  kernel.status("w-1", { last_action: "ran the tests" });
  sent(kernel);
  kernel.status("w-1", { lane: "internal/other" });
  sent(kernel, { lane: "internal/other" });
  kernel.grant("orchestrator", "other", { token: "t-brief", expires_at: kernel.now + 1_000 });
  kernel.revoke("t-orch");

  kernel.grant("orchestrator", "orch");
  sent(kernel, { lane: "internal/other" });
  kernel.bye();

  kernel.correct("orch", { key: "ended" });
  kernel.correct("other", { key: "none", worker_id: "w-2" });
  kernel.status("w-2", { last_action: "began" });
  kernel.correct("other", { key: "stale", worker_id: "w-2", status_digest: `sha256:${"0".repeat(64)}` });
  kernel.correct("other", { key: "long", worker_id: "w-2", message: "x".repeat(1_025) });
  kernel.correct("other", { key: "lane", worker_id: "w-2", lane: "elsewhere" });
  kernel.status("w-2", { last_action: "went on" }, { session: "an older one" });
  kernel.frame("orch", { type: "correct", id: "r1", worker_id: "w-2", message: " " });
  kernel.stage("orch", `corr_${"0".repeat(32)}`);
  const times = { first_at: kernel.now, last_at: kernel.now };
  kernel.do({ kind: "fold", role: "orchestrator", subject: "orch", counts: { UNWITNESSED: 3 }, ...times });
  kernel.lapse("w-2");
  kernel.connect("w-2", "w-2-s2");
  kernel.status("w-2", { last_action: "went on" });
  kernel.start();
  kernel.connect("w-1", "w-1-s2");
  kernel.status("w-1", { last_action: "came again" });
  for (let at = 0; at < more; at += 1) {
    const correction = sent(kernel);
    kernel.ack("w-1", correction, { summary: `step ${at}`, reflects: [correction] });
  }
  const redacted = entries.findIndex(({ line }) => line.includes('"detail":"DIGEST"'));
  redact(kernel, entries, redacted);
  kernel.do({ kind: "stop" });
  return entries;
}

/** Redacts the text of an entry that has one. */
function redact(kernel: TestKernel, entries: LoggedLine[], index: number): void {
  const entry = entries[index] as LoggedLine;
  const [text] = entry.texts;
  if (text === undefined) throw new Error(`entry ${index} has no text`);
  const committed = commitment(text.field, Buffer.from(text.salt, "hex"), text.utf8);
  const by = { role: "operator", subject: "operator" } as const;
  kernel.do({ kind: "redact", by, entry: index, field: text.field, committed });
  entries[index] = { ...entry, texts: [] };
}

/** The log of a kernel that has just started; it grows with what the kernel does. Once it has `later` entries, a millisecond is lost. */
export function recorded(kernel: TestKernel, later = Number.POSITIVE_INFINITY): LoggedLine[] {
  const entries: LoggedLine[] = [];
  const record = (event: KernelEvent, workerEntry?: number): void => {
    const index = entries.length;
    entries.push({ index, ...encodeEntry(event, index, workerEntry) });
  };
  kernel.events.forEach((event) => record(event));
  let late = later === 0;
  const lag = (): void => {
    if (late || entries.length < later) return;
    late = true;
    kernel.now += 1;
  };
  lag();
  kernel.observer = (_, { events, workerEntries }) => {
    events.forEach((event, at) => record(event, workerEntries[at]));
    lag();
  };
  return entries;
}

/** What the log's own key signs over these lines. */
export function signedOver(entries: readonly LoggedLine[], size: number = entries.length): string {
  const tree = new Frontier();
  for (const { line } of entries.slice(0, size)) tree.append(leafHash(line));
  return signCheckpoint(size, tree.root(), LOG_SIGNER);
}
