import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { InvalidArgumentError, Option, type Command } from "commander";
import { parseTlogProof, parseVerifierKey, verifyTlogProof, type VerifierKey } from "../tlog/index.js";
import { brokerSource, directorySource, exportSource, readNote, type Source } from "./audit/source.js";
import { printFindings } from "./audit/report.js";
import { Verifier } from "./audit/verifier.js";
import { connectionOf, targetOf } from "./config.js";
import { CliError, EXIT } from "./exit.js";
import { withTightHeap } from "./heap.js";
import { formatOption, printRecord, type Format } from "./output.js";
import { printable } from "./terminal/printable.js";
import { Progress } from "./terminal/progress.js";

interface VerifyOptions {
  checkpoint: string[];
  vkey?: { text: string; key: VerifierKey };
  texts: boolean;
  tokenFile?: string;
  head?: string;
  output: Format;
}

export function verifyCommand(program: Command): void {
  program
    .command("verify")
    .summary("check a witness log, or a receipt, without believing the broker")
    .description(
      "check a witness log without believing the broker: hashes, tree, signatures, completeness, texts, and every decision again; or a receipt that a2achan receipt printed",
    )
    .argument("<log>", "an export, a data directory, the ws:// URL of a broker, or a receipt")
    .addOption(
      new Option("--checkpoint <file>", "signed checkpoint, older ones too: the log must begin with it (repeatable)")
        .argParser((file: string, files: string[]) => [...files, file])
        .default([], "none"),
    )
    .option("--vkey <key>", "the log's key, NAME+ID+BASE64, from somewhere else than the log", parseKey)
    .option("--no-texts", "texts are not expected to be there")
    .option("--token-file <file>", "of a URL: file that holds an auditor's token; also A2ACHAN_TOKEN")
    .option("--head <file>", "of a directory: where the durable head is kept, if not in it")
    .addOption(formatOption())
    .action((log: string, options: VerifyOptions) => verify(log, options));
}

async function verify(log: string, options: VerifyOptions): Promise<void> {
  const { vkey, output } = options;
  if (isReceipt(log)) return verifyReceipt(log, options);
  const source = await sourceOf(log, options);
  const { yardsticks } = source;
  const given = options.checkpoint.map((file) => ({ name: file, note: readNote(file) }));
  const verifier = new Verifier({
    ...yardsticks,
    checkpoints: [...yardsticks.checkpoints, ...given],
    ...(vkey !== undefined && { key: vkey.key }),
    ...(!options.texts && { texts: "none" }),
  });
  using progress = new Progress("verify");
  await withTightHeap(() => source.read(verifier, (entries, share) => progress.at(share, entries)));
  const findings = verifier.end();
  progress[Symbol.dispose]();
  printFindings(output, findings, vkey === undefined ? {} : { vkey: vkey.text });
  const { difference } = findings;
  if (difference !== undefined)
    throw new CliError(`not proven: entry ${difference.index}: ${difference.sentence}`, EXIT.PROOF_FAILED);
}

async function sourceOf(log: string, { head, tokenFile }: VerifyOptions): Promise<Source> {
  if (/^wss?:\/\//.test(log)) {
    const target = { url: log, ...(tokenFile !== undefined && { tokenFile }) };
    return brokerSource(await connectionOf(targetOf(target, { env: process.env, directory: process.cwd() })));
  }
  if (!existsSync(log)) throw new CliError(`there is no ${log}; name an export, a data directory or a ws:// URL`);
  if (statSync(log).isDirectory()) return directorySource(log, head);
  if (head !== undefined)
    throw new CliError("--head is of a directory; beside an export lies its checkpoint", EXIT.USAGE);
  return exportSource(log);
}

const RECEIPT_START = "c2sp.org/tlog-proof@";

/** A receipt says what it is on its first line. */
function isReceipt(path: string): boolean {
  if (!existsSync(path) || !statSync(path).isFile()) return false;
  const start = Buffer.alloc(RECEIPT_START.length);
  const file = openSync(path, "r");
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  return start.toString("latin1") === RECEIPT_START;
}

/** That one entry is in a log. It does not say under which key: that must be known from somewhere else. */
function verifyReceipt(path: string, { vkey, output, checkpoint }: VerifyOptions): void {
  if (checkpoint.length > 0)
    throw new CliError(
      "a receipt has its own checkpoint, and cannot be held against another; leave --checkpoint out",
      EXIT.USAGE,
    );
  if (vkey === undefined)
    throw new CliError("a receipt is checked with the log's key, which it does not hold; give --vkey", EXIT.USAGE);
  const proof = parseTlogProof(readNote(path));
  const held = proof === undefined ? "malformed" : verifyTlogProof(proof, vkey.key);
  if (proof === undefined || typeof held === "string")
    throw new CliError(`not proven: ${FAULTS[held as keyof typeof FAULTS]}`, EXIT.PROOF_FAILED);
  const { index, entry } = proof;
  const { origin, size } = held;
  const sentence = `entry ${index} is in the log ${origin}, as its checkpoint of ${size} entries signs: ${entry}`;
  printRecord(output, printable(sentence), { ok: true, origin, size, index, entry });
}

const FAULTS = {
  malformed: "the receipt, or the checkpoint in it, is malformed, or of another log",
  unsigned: "the checkpoint in the receipt is not signed with this key",
  bad_signature: "the signature on the checkpoint in the receipt does not hold",
  not_included: "the entry in the receipt is not in the log that its checkpoint signs",
} as const;

function parseKey(text: string): { text: string; key: VerifierKey } {
  const key = parseVerifierKey(text);
  if (key === undefined) throw new InvalidArgumentError("the key of a log is NAME+ID+BASE64, as log_opened holds it.");
  return { text, key };
}
