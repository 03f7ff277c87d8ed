import type { AuditedLog } from "../crash/audit.js";
import type { Sent, Yielded } from "./cast.js";
import type { StageNotice } from "../../src/client/index.js";
import { STAGES, type Stage } from "../../src/protocol/index.js";

/** Ends of a correction that no worker has received. */
const UNTAKEN = ["WITHDRAWN", "STALE"];
const OPEN = ["ADMITTED", "DELIVERED", "ACKED"];

/** What the log says of one correction: its stages, each where it was first reached. */
interface Life {
  worker_id: string;
  index: number;
  stages: string[];
}

function isStage(name: string): name is Stage {
  return (STAGES as readonly string[]).includes(name);
}

function livesOf(log: AuditedLog): Map<string, Life> {
  const lives = new Map<string, Life>();
  for (const { kind, correction_id = "", worker_id = "", index } of log.entries) {
    if (kind === "admitted") lives.set(correction_id, { worker_id, index, stages: [] });
    const life = lives.get(correction_id);
    const stage = kind.toUpperCase();
    // A session that is fenced may have asked for something, too: that is refused, and no stage.
    if (life !== undefined && isStage(stage) && !life.stages.includes(stage)) life.stages.push(stage);
  }
  return lives;
}

/** Compares what the clients of a run were told with the log: each thing that is not as promised, in words. */
export function judge(
  log: AuditedLog,
  sent: readonly Sent[],
  heard: readonly StageNotice[],
  yielded: ReadonlyMap<string, readonly Yielded[]>,
): string[] {
  const lives = livesOf(log);
  const told = (id: string): StageNotice[] => heard.filter(({ correction_id }) => correction_id === id);
  return [
    ...log.broken(),
    ...[...log.open().values()].flat().map((id) => `${id} reached no end`),
    ...judgeReceipts(lives, sent),
    ...sent.flatMap((one) => judgeStages(lives, one, one.stages)),
    ...sent.flatMap((one) => judgeStages(lives, one, told(one.correction_id))),
    ...[...yielded].flatMap(([worker, ids]) => judgeWorker(lives, worker, ids)),
  ];
}

/** One admission for each call that was told of one, and no other. */
function judgeReceipts(lives: ReadonlyMap<string, Life>, sent: readonly Sent[]): string[] {
  const known = new Set(sent.map(({ correction_id }) => correction_id));
  return [
    ...(known.size === sent.length ? [] : [`${sent.length} calls were told of ${known.size} corrections`]),
    ...[...lives.keys()].filter((id) => !known.has(id)).map((id) => `${id} was admitted, and no call was told`),
  ];
}

/** Each stage of the log once, in its order. */
function judgeStages(lives: ReadonlyMap<string, Life>, { correction_id, end }: Sent, told: StageNotice[]): string[] {
  const logged = lives.get(correction_id)?.stages ?? [];
  const stages = told.map(({ stage }) => stage);
  const same = stages.join() === logged.join() && logged.at(-1) === end;
  return same ? [] : [`${correction_id} went ${logged.join(" ")}; told were ${stages.join(" ")} and ${end} as its end`];
}

/** Each correction that was received once, in the order of admission within a priority, and none that was not. */
function judgeWorker(lives: ReadonlyMap<string, Life>, worker: string, yielded: readonly Yielded[]): string[] {
  const faults: string[] = [];
  const ids = yielded.map(({ correction_id }) => correction_id);
  for (const halt of [true, false]) {
    const order = yielded
      .filter((one) => one.halt === halt)
      .map(({ correction_id }) => lives.get(correction_id)?.index);
    order.forEach((index, at) => {
      if (at > 0 && (index ?? -1) <= (order[at - 1] ?? -1))
        faults.push(`${worker} got entry ${index} out of order or twice`);
    });
  }
  for (const [id, { worker_id, stages }] of lives) {
    const end = stages.at(-1) ?? "";
    const received = !UNTAKEN.includes(end) && !OPEN.includes(end);
    if (worker_id !== worker || received === ids.includes(id)) continue;
    faults.push(`${id} ended ${end} and was ${received ? "never" : "also"} handed to ${worker}`);
  }
  return faults;
}
