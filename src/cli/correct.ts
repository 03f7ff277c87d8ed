import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { InvalidArgumentError, Option, type Command } from "commander";
import {
  A2achanError,
  type CorrectOptions,
  type CorrectionScope,
  type Orchestrator,
  type Receipt,
  type View,
  type WorkerStatus,
} from "../client/index.js";
import { checkText, describeTextFault, LIMITS, utf8Bytes } from "../protocol/index.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { tellCorrection } from "./correction-story.js";
import { parseDuration, parseTtl } from "./durations.js";
import { CliError, EXIT } from "./exit.js";
import { viewFields } from "./get.js";
import { asOrchestrator, correctionIdOf, idOf, viewOf } from "./orchestrator.js";
import { fieldLines, tell } from "./output.js";
import { pastRow } from "./past-row.js";
import { quoted } from "./quote.js";

interface CorrectCliOptions extends ClientOptions {
  digest?: string;
  wait?: number | true;
  ttl?: number;
  priority?: "normal" | "halt";
  freshness?: "run" | "exact";
  supersedes?: string;
  issue?: string;
  task?: string;
  lane?: string;
  key?: string;
}

export function correctCommand(program: Command): void {
  clientOptions(
    program
      .command("correct")
      .description("send a correction to a worker, for exactly the row that was read")
      .argument("<worker>", "id of the worker")
      .argument("<message>", "what the worker is told: 1 to 1,024 bytes")
      .option(
        "--digest <digest>",
        "the digest of the row that was read (see: get); without it, the row is shown and asked about",
        digestOf,
      )
      .option(
        "--wait [time]",
        "wait for its end and print each stage: 5 if not witnessed, 6 when the time is over",
        parseDuration,
      )
      .option("--ttl <time>", "how long the worker has to ack, and then to plan: up to 1h; default: 10m", parseTtl)
      .addOption(new Option("--priority <priority>", "halt goes before all others").choices(["normal", "halt"]))
      .addOption(new Option("--halt", "the same as --priority halt").implies({ priority: "halt" }))
      .addOption(
        new Option(
          "--freshness <freshness>",
          "exact: only if the row has not moved at all when it is delivered",
        ).choices(["run", "exact"]),
      )
      .option("--supersedes <id>", "an open correction of yours that this one takes the place of", correctionIdOf)
      .option("--issue <id>", "where you hold the worker to be; refused unless it is there; default: as in its row")
      .option("--task <id>", "likewise its task")
      .option("--lane <id>", "likewise its lane")
      .option(
        "--key <key>",
        "name of this attempt: the same call with the same key is sent once; default: a fresh one",
      ),
  ).action((worker: string, message: string, options: CorrectCliOptions) => correct(idOf(worker), message, options));
}

async function correct(worker: string, message: string, options: CorrectCliOptions): Promise<void> {
  const { digest, key = randomUUID() } = options;
  if (digest === undefined && !(process.stdin.isTTY && process.stderr.isTTY)) {
    const sentence = `without a terminal to ask at, correct needs --digest; read the row and its digest: a2achan get ${quoted(worker)}`;
    throw new CliError(sentence, EXIT.USAGE);
  }
  await asOrchestrator(options, async (orchestrator, connection) => {
    const view = await viewOf(orchestrator, worker);
    if (digest === undefined) {
      requireSendable(view, message);
      if (!(await isAgreed(view, message))) throw new CliError("nothing was sent");
    }
    // What is cited is what was read. If that is not the row as it is now, the broker says so, and logs it.
    const isPast = digest !== undefined && digest !== view.status_digest;
    const row = (isPast ? await pastRow(connection, worker, digest) : undefined) ?? view.row;
    const scope = scopeOf(row, options);
    const sent = { ...contentOf(options), key, scope, digest: digest ?? view.status_digest };
    const receipt = await send(orchestrator, row, message, sent, options);
    process.exitCode = await tellCorrection(receipt, { ...options, worker, key, row, digest: sent.digest, scope });
  });
}

async function send(
  orchestrator: Orchestrator,
  row: WorkerStatus,
  message: string,
  sent: CorrectOptions & Sent,
  options: CorrectCliOptions,
): Promise<Receipt> {
  try {
    return await orchestrator.correct(row, message, sent);
  } catch (error) {
    if (!(error instanceof A2achanError) || error.code !== "timeout") throw error;
    const again = repeat(row.worker_id, message, sent, options);
    throw new CliError(
      `no answer in time; it may have been admitted. Asking again cannot send it twice: ${again}`,
      EXIT.TIMEOUT,
    );
  }
}

/** What is always said in a correction of this command. */
interface Sent {
  key: string;
  digest: string;
  scope: CorrectionScope;
}

/** The call that means the same correction, whatever has moved since. */
function repeat(worker: string, message: string, { key, digest, scope }: Sent, options: CorrectCliOptions): string {
  const { url, tokenFile, data, ttl, priority, freshness, supersedes } = options;
  const flags: Record<string, string | undefined> = {
    digest,
    key,
    issue: String(scope.issue),
    task: scope.task_id,
    lane: scope.lane,
    ttl: ttl === undefined ? undefined : `${ttl / 1_000}s`,
    priority,
    freshness,
    supersedes,
    url,
    "token-file": tokenFile,
    data,
  };
  const said = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return ["a2achan", "correct", worker, message, ...said].map(quoted).join(" ");
}

function contentOf({ ttl, priority, freshness, supersedes }: CorrectCliOptions): CorrectOptions {
  return {
    ...(ttl !== undefined && { ttl_ms: ttl }),
    ...(priority !== undefined && { priority }),
    ...(freshness !== undefined && { freshness }),
    ...(supersedes !== undefined && { supersedes }),
  };
}

/** Issue, task and lane: what the caller knows from elsewhere, and the rest as in the row. */
function scopeOf(row: WorkerStatus, { issue, task, lane }: CorrectCliOptions): CorrectionScope {
  const task_id = task === undefined ? row.task_id : idOf(task);
  return {
    issue: issue === undefined ? row.issue : idOf(issue),
    lane: lane === undefined ? row.lane : idOf(lane),
    ...(task_id !== undefined && { task_id }),
  };
}

/** Nobody is asked about what the broker would refuse whatever the answer. */
function requireSendable({ row, liveness }: View, message: string): void {
  if (!row.live) {
    const sentence = `${row.worker_id} is ${liveness}: nothing can be sent until it publishes its row again; see: a2achan workers --watch`;
    throw new CliError(sentence, EXIT.REFUSED);
  }
  const fault = checkText(message);
  if (fault !== undefined) throw new CliError(describeTextFault(fault), EXIT.REFUSED);
  const bytes = utf8Bytes(message);
  if (bytes > LIMITS.message_bytes) {
    throw new CliError(`the message is ${bytes} bytes of at most ${LIMITS.message_bytes}; shorten it`, EXIT.REFUSED);
  }
}

/** Shows a person the row and the message, and asks whether that goes together. */
async function isAgreed(view: View, message: string): Promise<boolean> {
  const fields = [...viewFields(view), ["message", message, "bold"] as const];
  fieldLines(fields, process.stderr).forEach(tell);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question("\nSend this message for this row? [y/N] ")).trim());
  } catch {
    // Interrupted, or the end of the input.
    tell("");
    return false;
  } finally {
    terminal.close();
  }
}

function digestOf(value: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(value)) return value;
  throw new InvalidArgumentError("a digest is sha256: and 64 hex digits, as get shows it.");
}
