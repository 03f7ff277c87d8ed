import type { Command } from "commander";
import type { View } from "../client/index.js";
import { decodeId } from "../protocol/index.js";
import type { OpenRecord } from "./admin.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { askControl } from "./control.js";
import { DataDir, type BrokerFile } from "./data-dir.js";
import { durationWords } from "./durations.js";
import { EXIT, NoBrokerError } from "./exit.js";
import { allWorkers, asOrchestrator } from "./orchestrator.js";
import { fieldLines, print, printJson, printTable, type Field } from "./output.js";
import { stageColour } from "./stage-words.js";
import type { Column } from "./terminal/table.js";
import { WORKER_COLUMNS, countOf, inOrder } from "./worker-columns.js";

/** A broker that runs. */
interface BrokerStatus {
  running: true;
  url: string;
  /** Of one whose data directory is at hand: what it says of itself, and every correction that is open. */
  local?: { data: string; broker: BrokerFile; open: OpenRecord[] };
  workers: View[];
}

/** Of each list, as many as a person reads. */
const MOST_SHOWN = 20;

export function statusCommand(program: Command): void {
  clientOptions(
    program
      .command("status")
      .summary("is a broker there, where, who is live, what is open")
      .description(
        "say whether a broker is there, where, which workers are live and what is open; exits with 1 if none is",
      ),
  ).action((options: ClientOptions) => status(options));
}

async function status(options: ClientOptions): Promise<void> {
  try {
    const found = await asOrchestrator(options, async (orchestrator, { url, data }): Promise<BrokerStatus> => {
      const workers = await allWorkers(orchestrator, {});
      const local = data === undefined ? undefined : await localStatus(new DataDir(data, false));
      return { running: true, url, ...(local !== undefined && { local }), workers };
    });
    if (options.output === "table") printStatus(found);
    else printJson(options.output, found);
  } catch (error) {
    if (!(error instanceof NoBrokerError)) throw error;
    // That is an answer too.
    if (options.output === "table") print(error.message);
    else printJson(options.output, { running: false, why: error.message });
    process.exitCode = EXIT.FAILED;
  }
}

async function localStatus(data: DataDir): Promise<BrokerStatus["local"]> {
  const broker = data.broker();
  const reply = await askControl(data.controlSocket, { command: "open" });
  if (broker === undefined || reply === undefined) return undefined;
  return { data: data.path, broker, open: reply.result as OpenRecord[] };
}

function printStatus({ url, local, workers }: BrokerStatus): void {
  const here = workers.filter(({ liveness }) => liveness === "live" || liveness === "suspect");
  const open = local?.open.length ?? workers.reduce((sum, { pending }) => sum + pending, 0);
  const fields: Field[] = [["broker", url, "bold"]];
  if (local !== undefined) {
    const { pid, version, started } = local.broker;
    fields.push(["process", `${pid}, a2achan ${version}, up ${durationWords(Date.now() - started)}`]);
    fields.push(["data", local.data]);
  }
  fields.push(["workers", countOf(workers)], ["open", `${open} ${open === 1 ? "correction" : "corrections"}`]);
  fieldLines(fields).forEach(print);
  printSome(WORKER_COLUMNS, inOrder(here), "a2achan workers");
  if (local !== undefined) printSome(OPEN_COLUMNS, local.open, "a2achan status -o json");
}

function printSome<T>(columns: readonly Column<T>[], records: readonly T[], rest: string): void {
  if (records.length === 0) return;
  print("");
  printTable(columns, records.slice(0, MOST_SHOWN));
  if (records.length > MOST_SHOWN) print(`and ${records.length - MOST_SHOWN} more: ${rest}`);
}

const OPEN_COLUMNS: readonly Column<OpenRecord>[] = [
  { title: "CORRECTION", cell: ({ correction_id }) => correction_id },
  { title: "STAGE", cell: ({ stage }) => stage, colour: ({ stage }) => stageColour(stage) },
  { title: "LEFT", cell: ({ due_at }) => durationWords(due_at - Date.now()) },
  { title: "WORKER", cell: ({ worker_id }) => decodeId(worker_id) },
  { title: "BY", cell: ({ by }) => decodeId(by) },
];
