import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import {
  bundleBytes,
  Frontier,
  leafHash,
  PackedTree,
  signCheckpoint,
  TILE_WIDTH,
  tileBytes,
  tilePath,
  tilesOf,
} from "../tlog/index.js";
import { DurableLog } from "./audit/durable-log.js";
import { exportLines } from "./audit/exported-lines.js";
import { DATA_HELP, dataPath } from "./config.js";
import { reasonOf } from "./data-dir.js";
import { CliError, EXIT } from "./exit.js";
import { tell } from "./output.js";
import { Progress } from "./terminal/progress.js";

interface ExportOptions {
  data?: string;
  tiles?: string;
  texts: boolean;
  head?: string;
}

export function exportCommand(program: Command): void {
  program
    .command("export")
    .summary("write the witness log for an auditor, with a signed checkpoint")
    .description(
      "write the witness log for an auditor: entries and texts as lines of a file, with a signed checkpoint beside it (FILE.checkpoint), or as the tiles that other tools for transparency logs read",
    )
    .argument("[file]", "the lines, such as out.jsonl")
    .option("--data <dir>", DATA_HELP)
    .option("--tiles <dir>", "write checkpoint, tiles and entries there, as C2SP tlog-tiles")
    .option("--no-texts", "leave the texts out: then it can be published")
    .option("--head <file>", "where the durable head is kept, if not in the data directory")
    .action((file: string | undefined, options: ExportOptions) => exportLog(file, options));
}

async function exportLog(file: string | undefined, options: ExportOptions): Promise<void> {
  const { data, tiles, texts, head } = options;
  if ((file === undefined) === (tiles === undefined))
    throw new CliError("name one thing to write: a file, or a directory with --tiles", EXIT.USAGE);
  const log = await DurableLog.open(dataPath(data), head);
  if (file !== undefined) {
    await saidOf(file, () => exportFile(log, file, texts));
    tell(`${log.size} entries in ${file}, signed in ${file}.checkpoint; check them: a2achan verify ${file}`);
  } else if (tiles !== undefined) {
    await saidOf(tiles, () => exportTiles(log, tiles));
    tell(`${log.size} entries as tiles in ${tiles}, signed in ${join(tiles, "checkpoint")}`);
  }
}

/** A whole file or the one before it; its checkpoint comes last. */
async function exportFile(log: DurableLog, file: string, texts: boolean): Promise<void> {
  const frontier = new Frontier();
  using progress = new Progress("export");
  const fd = openSync(`${file}.new`, "w", 0o600);
  try {
    await log.read((entry) => {
      frontier.append(leafHash(entry.line));
      writeSync(fd, exportLines(entry, texts));
      progress.at(frontier.size / log.size, frontier.size);
    });
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${file}.new`, file);
  writeFileSync(`${file}.checkpoint`, signCheckpoint(frontier.size, frontier.root(), log.signer()));
}

/** Bundles while the log is read, then the tiles of hashes, then the checkpoint over them. */
async function exportTiles(log: DurableLog, directory: string): Promise<void> {
  const tree = new PackedTree();
  const write = (path: string, bytes: Uint8Array): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), bytes);
  };
  let bundle: string[] = [];
  const flush = (): void => {
    if (bundle.length === 0) return;
    const index = Math.ceil(tree.size / TILE_WIDTH) - 1;
    write(tilePath({ level: "entries", index, width: bundle.length }), bundleBytes(bundle));
    bundle = [];
  };
  using progress = new Progress("export");
  mkdirSync(directory, { recursive: true });
  await log.read(({ line }) => {
    tree.append(leafHash(line));
    bundle.push(line);
    if (bundle.length === TILE_WIDTH) flush();
    progress.at(tree.size / log.size, tree.size);
  });
  flush();
  for (const tile of tilesOf(tree.size)) {
    const { level, index, width } = tile;
    if (level !== "entries") write(tilePath(tile), tileBytes(tree, level, index, width));
  }
  write("checkpoint", Buffer.from(signCheckpoint(tree.size, tree.root(), log.signer())));
}

async function saidOf(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof CliError || !(error instanceof Error) || !("code" in error)) throw error;
    throw new CliError(`cannot write ${path}: ${reasonOf(error)}`);
  }
}
