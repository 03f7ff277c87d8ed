import type { Text } from "../../kernel/index.js";
import { isOpen } from "../../protocol/index.js";
import { durationWords } from "../durations.js";
import { print, printJson, type Format } from "../output.js";
import { quoted } from "../quote.js";
import { STAGE_WORDS } from "../stage-words.js";
import { printable } from "../terminal/printable.js";
import { wrap } from "../terminal/width.js";
import type { CorrectionFile, Happening } from "./correction-file.js";

/** A page that is printed on paper too. */
const PAGE_CELLS = 80;
const NAME_CELLS = 12;
const CHECK = "To check it yourself";

/** What a reader needs to check the story. */
interface Log {
  /** The data directory, as it was named. */
  data: string;
  log_key: string;
}

/** Prints the story of one correction: a page for people, or all that it is made of. */
export function printExplanation(format: Format, file: CorrectionFile, log: Log): void {
  if (format !== "table") return printJson(format, { ...file, log_key: log.log_key });
  explanationLines(file, log).forEach(print);
}

/** The page for people, on lines of at most 80 cells but for what is to be copied. */
export function explanationLines(file: CorrectionFile, log: Log): string[] {
  return pageOf(file, log).flatMap(([title, fields], at) => {
    const words = title === CHECK ? "whole" : "broken";
    const lines = fields.flatMap(([name, value]) => fieldOf(name, value, words));
    return [...(at === 0 ? [] : [""]), title, ...lines];
  });
}

type Fields = (readonly [name: string, value: string | undefined])[];

function pageOf(file: CorrectionFile, log: Log): [title: string, fields: Fields][] {
  const { admitted, cited, happened } = file;
  const said = (text: Text): string => textOf(text, file);
  const { content, by } = admitted;
  const row = cited?.row;
  return [
    [
      admitted.correction_id,
      [
        ["from", `${admitted.orchestrator_id} (${by.role}${by.token === undefined ? "" : `, token ${by.token}`})`],
        ["to", admitted.worker_id],
        ["when", `${timeOf(admitted.at)}, log entry ${happened[0]?.index ?? ""}`],
        ["scope", scopeOf(content)],
        ["message", said(content.message)],
        ["priority", content.priority],
        ["freshness", content.freshness],
        ["supersedes", content.supersedes],
        ["time to ack", durationWords(admitted.expires_at - admitted.at)],
      ],
    ],
    [
      "The row that it cited",
      cited === undefined || row === undefined
        ? [["row", "not in the log before it"]]
        : [
            ["log entry", String(cited.index)],
            ["seq", `${row.seq}${row.live ? ", live" : ", not live"}`],
            ["scope", scopeOf(row)],
            ["last action", row.last_action === undefined ? "none" : said(row.last_action)],
            ["next action", row.next_action === undefined ? "none" : said(row.next_action.summary)],
            ["reflects", row.next_action?.reflects.join(" ") || undefined],
            ["digest", cited.digest],
            ["", digestWords(cited, content.status_digest)],
          ],
    ],
    ["What happened", happened.flatMap((one) => storyOf(one, file))],
    [
      CHECK,
      [
        ["entries", `a2achan log --data ${quoted(log.data)} --correction ${admitted.correction_id} -o jsonl`],
        ["whole log", `a2achan verify ${quoted(log.data)} --vkey ${quoted(log.log_key)}`],
        ["receipt", `a2achan receipt --data ${quoted(log.data)} ${admitted.correction_id} > receipt.tlog-proof`],
        ["", `a2achan verify receipt.tlog-proof --vkey ${quoted(log.log_key)}`],
        ["", "Take the key from a place that the broker cannot write to."],
      ],
    ],
  ];
}

function digestWords({ proven, digest }: { proven: boolean; digest: string }, cited: string | undefined): string {
  if (digest !== cited) return `not the digest that was cited: ${cited ?? "none"}`;
  return proven
    ? "the digest that was cited, computed again from this row"
    : "the digest that was cited; a text of the row is gone, so it cannot be computed again";
}

function storyOf({ index, event, stage }: Happening, file: CorrectionFile): Fields {
  const { judgedBy } = file;
  const detail = "detail" in event && event.detail !== undefined ? `/${event.detail}` : "";
  const name = stage === undefined ? "LATE ACK" : `${stage}${detail}`;
  const words = stage === undefined ? "the worker acked after its time was over" : STAGE_WORDS[stage];
  const story: Fields = [
    [name, `log entry ${index}, ${timeOf(event.at)}, by ${event.by.role} ${event.by.subject}`],
    ["", stage !== undefined && !isOpen(stage) ? `the end: ${words}` : words],
  ];
  if (event.kind === "delivered" && event.redelivered) story.push(["", `attempt ${event.attempt}, given again`]);
  if (event.kind === "delivered" && event.stale_context) story.push(["", "the row had moved on since it was cited"]);
  if (event.kind === "declined" && event.reason !== undefined)
    story.push(["", `reason: ${textOf(event.reason, file)}`]);
  if ("superseded_by" in event && event.superseded_by !== undefined) story.push(["", `by ${event.superseded_by}`]);
  if ((event.kind === "witnessed" || event.kind === "unreflected") && judgedBy !== undefined) {
    const { plan } = judgedBy;
    const names = plan.reflects.length === 0 ? "no correction" : plan.reflects.join(" ");
    story.push(["", `judged by the planned action in log entry ${judgedBy.index}: ${textOf(plan.summary, file)}`]);
    story.push(["", `it names ${names}`]);
    if (event.echo === true) story.push(["", "in the words that the plan had before"]);
  }
  return story;
}

function scopeOf({ issue, task_id, lane }: { issue: string; task_id?: string; lane: string }): string {
  return `issue ${issue}${task_id === undefined ? "" : `, task ${task_id}`}, lane ${lane}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function textOf({ text, bytes, commitment }: Text, { redacted }: CorrectionFile): string {
  if (text !== undefined) return `"${text}"`;
  const index = redacted[commitment];
  const why = index === undefined ? "withheld: no log entry redacts them" : `redacted by log entry ${index}`;
  return `(${bytes} bytes, ${why}; committed to as ${commitment})`;
}

/** A field on lines that fit the page; what is to be copied stands whole. */
function fieldOf(name: string, value: string | undefined, words: "whole" | "broken"): string[] {
  if (value === undefined) return [];
  const indent = " ".repeat(2 + NAME_CELLS);
  const room = PAGE_CELLS - indent.length;
  const label = `  ${name}`.padEnd(indent.length);
  const text = printable(value);
  if (!text.includes(" ") && text.length > room && !text.startsWith('"')) return [label.trimEnd(), `    ${text}`];
  const lines = (words === "whole" ? [text] : wrap(text, room, "broken")).map((line) => indent + line);
  if (label.length > indent.length) return [label, ...lines];
  return lines.map((line, at) => (at === 0 ? label + line.slice(indent.length) : line));
}
