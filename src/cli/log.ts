import { InvalidArgumentError, Option, type Command } from "commander";
import type { KernelEvent } from "../kernel/index.js";
import { REASONS } from "../protocol/index.js";
import { DamagedLog, readHead, systemFiles, type LoggedLine } from "../storage/journal/index.js";
import { DATA_HELP, dataPath } from "./config.js";
import { DataDir } from "./data-dir.js";
import { durationMs } from "./durations.js";
import { CliError, EXIT } from "./exit.js";
import { withLogFiles } from "./log-files.js";
import { formatOption, print, type Format } from "./output.js";
import { printable } from "./terminal/printable.js";

interface LogOptions {
  data?: string;
  follow?: true;
  worker?: string;
  correction?: string;
  reason?: string;
  kind?: string;
  text?: true;
  since?: number;
  head?: string;
  output: Format;
}

/** An entry as far as this command looks into it. */
interface Entry {
  index: number;
  at: number;
  kind: string;
  by: { role: string; subject: string };
  worker_id?: string;
  correction_id?: string;
  /** What a refused request asked for; the role, of a `hello`. */
  verb?: string;
  role?: string;
  /** Of a refusal; the reason of a decline is a text, and so its commitment. */
  reason?: string | object;
  detail?: string;
  status_digest?: string;
  row?: { seq: number; lane: string; live: boolean };
}

const KINDS: Readonly<Record<KernelEvent["kind"], true>> = {
  log_opened: true,
  broker_started: true,
  broker_stopped: true,
  grant_added: true,
  grant_revoked: true,
  session_opened: true,
  status: true,
  admitted: true,
  refused: true,
  refusals_folded: true,
  delivered: true,
  acked: true,
  planned: true,
  late_ack: true,
  witnessed: true,
  unreflected: true,
  declined: true,
  expired: true,
  withdrawn: true,
  superseded: true,
  stale: true,
  orphaned: true,
  revoked: true,
  redacted: true,
};

/** How often `--follow` looks for more. */
const FOLLOW_MS = 100;

export function logCommand(program: Command): void {
  program
    .command("log")
    .description("read the witness log from its files, with or without a broker running")
    .option("--data <dir>", DATA_HELP)
    .option("-f, --follow", "go on with what is written later, until interrupted")
    .option("--worker <id>", "only what concerns this worker")
    .option("--correction <id>", "only what concerns this correction")
    .addOption(new Option("--reason <reason>", "only refusals for this reason").choices(REASONS))
    .addOption(new Option("--kind <kind>", "only entries of this kind").choices(Object.keys(KINDS)))
    .option("--text", "the texts too, which lie beside the entries")
    .option("--since <time>", "only entries from this time on: ISO 8601, or 10m, 24h, 7d ago", parseSince)
    .option("--head <file>", "where the durable head is kept, if not in the data directory")
    .addOption(formatOption())
    .action((options: LogOptions) => showLog(options));
}

async function showLog(options: LogOptions): Promise<void> {
  if (options.follow === true && options.output === "json")
    throw new CliError("--follow has no end, and a JSON array has; choose -o jsonl", EXIT.USAGE);
  const data = new DataDir(dataPath(options.data), false);
  const head = await readHead(systemFiles, options.head ?? data.head);
  let shown = 0;
  const show = (entry: LoggedLine): void => {
    const parsed = select(entry, options);
    if (parsed === undefined) return;
    const texts = options.text === true ? entry.texts : [];
    if (options.output === "table") {
      shown += 1;
      print(lineOf(parsed));
      for (const { field, utf8 } of texts) print(`${" ".repeat(9)}${field}: ${printable(utf8)}`);
    } else {
      // The lines themselves, byte for byte; as JSON in one array that is never held whole.
      for (const line of [entry.line, ...texts.map((text) => JSON.stringify({ text }))]) {
        print(options.output === "jsonl" ? line : (shown === 0 ? "[" : ",") + line);
        shown += 1;
      }
    }
  };
  await withLogFiles(data.log, async (reader) => {
    await reader.read(show);
    if (head !== undefined && reader.next < head.size) throw new DamagedLog(reader.next, shortened(head.size));
    if (options.output === "json") print(shown === 0 ? "[]" : "]");
    if (options.output === "table" && shown === 0) process.stderr.write("no entry of the log is so\n");
    while (options.follow === true) {
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
      await reader.read(show);
    }
  });
}

function shortened(size: number): string {
  return `what stands there does not check, though ${size} entries were durable`;
}

/** The entry if the options ask for it. A line that does not even hold the words is not parsed. */
function select({ line }: LoggedLine, options: LogOptions): Entry | undefined {
  const { worker, correction, reason, kind, since } = options;
  for (const word of [worker, correction, reason, kind])
    if (word !== undefined && !line.includes(JSON.stringify(word))) return undefined;
  const entry = JSON.parse(line) as Entry;
  if (worker !== undefined && entry.worker_id !== worker) return undefined;
  if (correction !== undefined && entry.correction_id !== correction) return undefined;
  if (reason !== undefined && entry.reason !== reason) return undefined;
  if (kind !== undefined && entry.kind !== kind) return undefined;
  return since === undefined || entry.at >= since ? entry : undefined;
}

function lineOf(entry: Entry): string {
  const time = new Date(entry.at).toISOString();
  const why = [entry.reason, entry.detail].filter((part) => typeof part === "string").join("/");
  const row =
    entry.row === undefined
      ? ""
      : `seq ${entry.row.seq} ${entry.row.live ? "live" : "not live"} lane ${entry.row.lane}`;
  const asked = entry.verb === "hello" && entry.role !== undefined ? `hello as ${entry.role}` : entry.verb;
  const parts = [asked, entry.worker_id, entry.correction_id, why, row, `by ${entry.by.role} ${entry.by.subject}`];
  const said = parts.filter((part) => part !== undefined && part !== "").join("  ");
  return printable(`${String(entry.index).padStart(7)}  ${time}  ${entry.kind.padEnd(16)}  ${said}`);
}

function parseSince(value: string): number {
  const ago = durationMs(value);
  const at = ago === undefined ? Date.parse(value) : Date.now() - ago;
  if (Number.isNaN(at)) throw new InvalidArgumentError("a time is ISO 8601, or a number and s, m, h or d ago.");
  return at;
}
