import type { Command } from "commander";
import { STAGES } from "../protocol/index.js";
import { formatTlogProof, inclusionProof, leafHash, PackedTree, signCheckpoint } from "../tlog/index.js";
import { DurableLog } from "./audit/durable-log.js";
import { DATA_HELP, dataPath } from "./config.js";
import { CliError, EXIT } from "./exit.js";
import { parseIndex } from "./log-index.js";
import { correctionIdOf } from "./orchestrator.js";
import { tell } from "./output.js";
import { Progress } from "./terminal/progress.js";

interface ReceiptOptions {
  data?: string;
  index?: number;
  head?: string;
}

export function receiptCommand(program: Command): void {
  program
    .command("receipt")
    .summary("print a proof that an entry is in the log, to be checked offline")
    .description(
      "print a proof that an entry is in the log, for a file of its own (C2SP tlog-proof): of a correction, the entry of its last stage; check it: a2achan verify FILE --vkey KEY",
    )
    .argument("[correction]", "id of the correction", correctionIdOf)
    .option("--index <n>", "the entry with this index instead", parseIndex)
    .option("--data <dir>", DATA_HELP)
    .option("--head <file>", "where the durable head is kept, if not in the data directory")
    .action((correction: string | undefined, options: ReceiptOptions) => receipt(correction, options));
}

/** The kinds that are stages of a correction: an entry's kind is its stage in lower case. */
const STAGE_KINDS: readonly string[] = STAGES.map((stage) => stage.toLowerCase());

async function receipt(correction: string | undefined, { data, index, head }: ReceiptOptions): Promise<void> {
  if ((correction === undefined) === (index === undefined))
    throw new CliError("name one entry: the id of a correction, or an --index", EXIT.USAGE);
  const log = await DurableLog.open(dataPath(data), head);
  const tree = new PackedTree();
  let found: { index: number; line: string } | undefined;
  using progress = new Progress("receipt");
  await log.read((entry) => {
    tree.append(leafHash(entry.line));
    if (entry.index === index || isStageOf(entry.line, correction)) found = entry;
    progress.at(tree.size / log.size, tree.size);
  });
  progress[Symbol.dispose]();
  if (found === undefined)
    throw new CliError(
      correction === undefined
        ? `the log has ${tree.size} entries, and none with index ${index ?? ""}`
        : `no correction ${correction} is in the log; see: a2achan log --kind admitted`,
    );
  const key = log.signer();
  const checkpoint = signCheckpoint(tree.size, tree.root(), key);
  const hashes = inclusionProof(tree, found.index, tree.size);
  process.stdout.write(formatTlogProof({ index: found.index, entry: found.line, hashes, checkpoint }));
  tell(`entry ${found.index} of ${tree.size}; its key: ${log.logKey}`);
}

function isStageOf(line: string, correction: string | undefined): boolean {
  if (correction === undefined || !line.includes(correction)) return false;
  const { kind, correction_id } = JSON.parse(line) as { kind: string; correction_id?: string };
  return correction_id === correction && STAGE_KINDS.includes(kind);
}
