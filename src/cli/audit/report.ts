import type { Findings } from "./verifier.js";
import { fieldLines, print, printJson, type Field, type Format } from "../output.js";

/** A key that was given goes before the one that the log itself names. */
export interface Trust {
  vkey?: string;
}

/** Tells what a verification has looked at: for people, or all of it as one value. */
export function printFindings(format: Format, findings: Findings, trust: Trust): void {
  if (format !== "table") return printJson(format, recordOf(findings, trust));
  fieldLines(fieldsOf(findings, trust)).forEach(print);
}

function fieldsOf(findings: Findings, { vkey }: Trust): Field[] {
  const { origin, logKey, size, root, behind, workers, agreed, texts, difference } = findings;
  const { redecided, attested } = attestedToo(findings);
  const key = vkey ?? logKey;
  const from = vkey === undefined ? "the key that the log itself names; give --vkey to check it" : "the key given";
  const heads = agreed.map(({ name, size: of }): Field => ["agrees with", `${name}, ${count(of)} entries`]);
  const signed = agreed.some(({ name }) => name !== "head");
  return [
    ["log", origin],
    ["entries", `${count(size)}, tree over them ${root}`],
    ...(behind === undefined ? [] : [["behind them", behind] satisfies Field]),
    ...heads,
    ["signed", signed ? `with ${key ?? ""} (${from})` : "no checkpoint at hand, so nothing says that this is all"],
    ["workers", `${count(workers)}, entries 1, 2, 3, ... of each without a gap`],
    [
      "texts",
      `${count(texts.matching)} match, ${count(texts.redacted)} redacted, ${count(texts.absent)} ${absentAre(findings)}`,
    ],
    ["re-decided", told(redecided)],
    ["attested", `${told(attested)} (only the broker's word stands for these)`],
    difference === undefined
      ? ["result", "everything is what the rules make of it", "green"]
      : ["result", `entry ${difference.index}: ${difference.sentence}`, "red"],
  ];
}

function absentAre({ texts, difference }: Findings): string {
  if (texts.absent === 0) return "withheld";
  return difference === undefined ? "not at hand" : "withheld";
}

/** What the log says and no rule leads to, beside what the replay has counted (WITNESS-LOG.md, "Attested"). */
function attestedToo({ size, counts }: Findings): { redecided: [string, number][]; attested: [string, number][] } {
  const admitted = counts.redecided.get("admitted") ?? 0;
  const more: [string, number][] = [
    ["at", size],
    ["deliverable", admitted],
  ];
  const known = (list: [string, number][]): [string, number][] => list.filter(([, times]) => times > 0);
  return { redecided: [...counts.redecided], attested: known([...counts.attested, ...more]) };
}

function told(counts: readonly [string, number][]): string {
  const total = counts.reduce((sum, [, times]) => sum + times, 0);
  const kinds = counts.toSorted(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${count(times)}`);
  return kinds.length === 0 ? "0" : `${count(total)}: ${kinds.join(", ")}`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function recordOf(findings: Findings, { vkey }: Trust): object {
  const { origin, logKey, size, root, behind, workers, agreed, texts, difference } = findings;
  const { redecided, attested } = attestedToo(findings);
  return {
    ok: difference === undefined,
    ...(origin !== undefined && { origin, log_key: logKey }),
    key_from: vkey === undefined ? "log" : "vkey",
    size,
    root,
    ...(behind !== undefined && { behind }),
    agrees_with: agreed,
    workers,
    texts: { matching: texts.matching, redacted: texts.redacted, absent: texts.absent },
    redecided: Object.fromEntries(redecided),
    attested: Object.fromEntries(attested),
    ...(difference !== undefined && { difference }),
  };
}
