import { setTimeout } from "node:timers/promises";
import type { Admitted, CorrectionScope, Denied, Receipt, StageNotice, WorkerStatus } from "../client/index.js";
import { isOpen, statusDigest } from "../protocol/index.js";
import { durationWords } from "./durations.js";
import { EXIT, type ExitCode } from "./exit.js";
import { print, printJson, tell, type Format } from "./output.js";
import { tellRefusal } from "./refusal.js";
import { STAGE_WORDS, stageColour } from "./stage-words.js";
import { paint } from "./terminal/paint.js";

interface StoryOptions {
  output: Format;
  /** Wait for the end: for so many milliseconds, or however long it takes. */
  wait?: number | true;
  worker: string;
  key: string;
  /** The row that was at hand, and the digest that was cited. */
  row: WorkerStatus;
  digest: string;
  /** Where the caller held the worker to be. */
  scope: CorrectionScope;
}

/** Tells what became of a correction, and gives the exit code that says the same. */
export function tellCorrection(receipt: Receipt, options: StoryOptions): Promise<ExitCode> | ExitCode {
  if (receipt.verdict === "DENY") return tellDenied(receipt, options);
  return receipt.sent ? tellAdmitted(receipt, options) : tellNotSent(receipt, options);
}

function tellDenied(receipt: Denied, options: StoryOptions): ExitCode {
  const { output, worker } = options;
  if (output !== "table") printJson(output, receipt);
  tellRefusal(receipt, worker, receipt.moved, noteOn(receipt, options));
  return EXIT.REFUSED;
}

/** What the caller knows of a refusal and its advice does not say. */
function noteOn({ detail }: Denied, { row, scope, digest }: StoryOptions): string | undefined {
  if (detail === "DIGEST" && statusDigest(row) !== digest)
    return "What moved is not known: the row that was cited is not at hand, and not in the log for this token.";
  if (detail !== "SCOPE") return undefined;
  const fields = ["issue", "task_id", "lane"] as const;
  const wrong = fields.filter((field) => scope[field] !== row[field]);
  return wrong
    .map((field) => `You named ${field} ${scope[field] ?? "none"}; in the row it is ${row[field] ?? "none"}.`)
    .join(" ");
}

/** A repeat of a call whose correction has ended otherwise than WITNESSED. */
function tellNotSent(receipt: Admitted, { output, key }: StoryOptions): ExitCode {
  if (output !== "table") printJson(output, receiptRecord(receipt, key));
  tell(
    `a2achan: not sent: ${receipt.correction_id}, the correction with this key, has ended as ${receipt.stage}; leave out --key to send a new one`,
  );
  return EXIT.NOT_WITNESSED;
}

async function tellAdmitted(receipt: Admitted, { output, wait, key, worker }: StoryOptions): Promise<ExitCode> {
  if (wait !== undefined) return waitForEnd(receipt, output, key, wait);
  const { correction_id, stage, index, expires_at, replayed, deliverable } = receipt;
  if (output !== "table") {
    printJson(output, receiptRecord(receipt, key));
  } else {
    const what = replayed ? `was admitted before, and is ${stage}` : "admitted";
    print(`${correction_id} ${paint(what, stageColour(stage))}, log entry ${index}`);
  }
  if (isOpen(stage)) {
    const left = durationWords(expires_at - Date.now());
    tell(
      deliverable
        ? `the worker has ${left} to ack it`
        : `${worker} is not connected; it has ${left} to come and ack it`,
    );
  }
  tell(`where it stands: a2achan stage ${correction_id}`);
  return EXIT.OK;
}

/** Prints each stage as it comes, up to the end or until the time is over. */
async function waitForEnd(receipt: Admitted, output: Format, key: string, wait: number | true): Promise<ExitCode> {
  const told: StageNotice[] = [];
  const stages = receipt.stages();
  const late = wait === true ? undefined : setTimeout(wait, undefined, { ref: false });
  if (output === "table") tell(`waiting for the end of ${receipt.correction_id}`);
  if (output === "jsonl") printJson(output, receiptRecord(receipt, key));
  for (;;) {
    const step = await (late === undefined ? stages.next() : Promise.race([stages.next(), late]));
    if (step === undefined || step.done === true) break;
    told.push(step.value);
    if (output === "table") print(stageLine(step.value));
    if (output === "jsonl") printJson(output, step.value);
  }
  const last = told.at(-1);
  if (output === "json") printJson(output, { ...receiptRecord(receipt, key), stages: told });
  if (last !== undefined && !isOpen(last.stage)) return last.stage === "WITNESSED" ? EXIT.OK : EXIT.NOT_WITNESSED;
  tell(`a2achan: it is still ${last?.stage ?? receipt.stage}; look later: a2achan stage ${receipt.correction_id}`);
  return EXIT.TIMEOUT;
}

/** One stage, for people. */
export function stageLine({ correction_id, stage, detail, echo, index }: StageNotice): string {
  const name = detail === undefined ? stage : `${stage}/${detail}`;
  const entry = paint(`log entry ${index}`.padEnd(14), "dim");
  const line = `${paint(name.padEnd(11), stageColour(stage))}  ${entry}  ${STAGE_WORDS[stage]}`;
  // The reason is a text, for those who may read texts.
  if (stage === "DECLINED") return `${line}; where the broker runs, see: a2achan explain ${correction_id}`;
  return echo === true ? `${line}, in the words that it had before` : line;
}

function receiptRecord(receipt: Admitted, key: string): object {
  return { ...receipt, outcome: undefined, stages: undefined, key };
}
