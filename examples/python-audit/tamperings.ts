/** What an auditor is given. */
interface Evidence {
  /** An exported log. */
  text: string;
  /** The checkpoint over all of it. */
  checkpoint: string;
  /** The log's key, from somewhere else. */
  log_key: string;
}

/** Evidence in which one thing is not as it was, and how the check must begin what it says of it. */
interface Tampering extends Evidence {
  name: string;
  says: string;
}

/** An entry's line, and those of its texts. */
type Lines = readonly string[];

/**
 * What can be done by who holds the files and not the key. Where nothing but the root tells, the entry named is the first
 * that an older checkpoint, over `older` entries, does not vouch for.
 */
export function tamperings(evidence: Evidence, older: number): Tampering[] {
  const log: Lines[] = evidence.text
    .trimEnd()
    .split(/\n(?!\{"text":)/)
    .map((lines) => lines.split("\n"));
  const place = (kind: string): number => log.findLastIndex(([line]) => line?.includes(`"kind":"${kind}"`));
  const [row, plan, acked, last] = [place("status"), place("planned"), place("acked"), log.length - 1];
  const [mine, next] = [log[acked] ?? [], log[acked + 1] ?? []];
  const edited = (index: number, from: string | RegExp, to: string): Lines[] =>
    log.with(index, log[index]?.map((line) => line.replace(from, to)) ?? []);
  const numbered = (lines: Lines[]): Lines[] =>
    lines.map((entry, index) => entry.map((line) => line.replace(/"index":\d+/, `"index":${index}`)));

  const logs: [name: string, lines: Lines[], index: number, meaning: string][] = [
    ["a byte of a row", edited(row, "src/parser", "src/parsed"), row, "its status_digest is not that of its row"],
    ["a blank between two fields", edited(row, ',"kind"', ', "kind"'), row, "it is not in its RFC 8785 form"],
    ["a later time", edited(last, /"at":\d+/, "$&0"), older, `from there to entry ${last} something is not`],
    ["an earlier time", edited(last, /\d(?=,"by")/, ""), last, "its time is before that of the entry before it"],
    ["two entries swapped", log.with(acked, next).with(acked + 1, mine), acked, `it calls itself entry ${acked + 1}`],
    ["an entry deleted", log.toSpliced(acked, 1), acked, `it calls itself entry ${acked + 1}`],
    ["and the rest numbered anew", numbered(log.toSpliced(acked, 1)), acked, "it is entry 5 of worker 'coder'"],
    ["an entry twice", log.toSpliced(acked, 0, mine), acked + 1, `it calls itself entry ${acked}`],
    ["an entry added", numbered([...log, log[last] ?? []]), last + 1, "no checkpoint reaches it"],
    ["the end cut off", log.slice(0, -1), last, `the log ends here, but checkpoint signs ${last + 1} entries`],
    ["a text", edited(plan, "off-by-one", "off-by-two"), plan, "its summary is not the text that it commits to"],
    ["a text taken out", log.with(plan, log[plan]?.slice(0, 1) ?? []), plan, "its summary is withheld"],
  ];
  const signature = evidence.checkpoint.replace(/.(?=.{9}\n$)/, (sign) => (sign === "A" ? "B" : "A"));
  return [
    ...logs.map(([name, lines, index, meaning]) => {
      return { ...evidence, name, text: `${lines.flat().join("\n")}\n`, says: `entry ${index}: ${meaning}` };
    }),
    {
      ...evidence,
      name: "the signature",
      checkpoint: signature,
      says: "entry 0: the signature on checkpoint does not",
    },
    { ...evidence, name: "another key", log_key: "a2achan/x+00000000+AQ==", says: "entry 0: its log_key is" },
  ];
}
