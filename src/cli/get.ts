import type { Command } from "commander";
import type { View } from "../client/index.js";
import { decodeId } from "../protocol/index.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { asOrchestrator, idOf, viewOf } from "./orchestrator.js";
import { fieldLines, print, printJson, tell, type Field } from "./output.js";
import { quoted } from "./quote.js";
import { livenessColour } from "./stage-words.js";

export function getCommand(program: Command): void {
  clientOptions(
    program
      .command("get")
      .description("show one worker's row, and the digest by which a correction cites it")
      .argument("<worker>", "id of the worker"),
  ).action((worker: string, options: ClientOptions) =>
    asOrchestrator(options, async (orchestrator) => {
      const view = await viewOf(orchestrator, idOf(worker));
      if (options.output !== "table") return printJson(options.output, view);
      fieldLines(viewFields(view)).forEach(print);
      if (!process.stdout.isTTY || view.liveness === "ended") return;
      tell(`\nto correct it, citing this row:`);
      tell(`a2achan correct ${quoted(worker)} MESSAGE \\\n--digest ${view.status_digest}`);
    }),
  );
}

/** A row and what stands beside it, for people. */
export function viewFields({ row, status_digest, liveness, inbox, pending, lease_ms }: View): Field[] {
  const { reflects = [] } = row.next_action ?? {};
  return [
    ["worker", decodeId(row.worker_id), "bold"],
    ["issue", decodeId(row.issue)],
    ["task", row.task_id === undefined ? undefined : decodeId(row.task_id)],
    ["lane", decodeId(row.lane)],
    ["state", liveness, livenessColour(liveness)],
    ["last action", row.last_action ?? "-"],
    ["next action", row.next_action?.summary ?? "-"],
    ["reflects", reflects.length === 0 ? undefined : reflects.join(" ")],
    [
      "open",
      `${pending} ${pending === 1 ? "correction" : "corrections"}${inbox === "closed" ? "; its inbox is closed" : ""}`,
    ],
    ["lease", `${lease_ms / 1_000} s`],
    ["seq", String(row.seq)],
    ["digest", status_digest],
  ];
}
