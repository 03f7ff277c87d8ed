import { describe, expect, it } from "vitest";
import { CorrectionFinder, type CorrectionFile } from "../../../src/cli/audit/correction-file.js";
import { explanationLines } from "../../../src/cli/audit/explanation.js";
import type { LoggedLine } from "../../../src/storage/journal/index.js";
import { everyKind, recorded } from "../../support/every-kind.js";
import { admittedId, TestKernel } from "../../support/kernel.js";

const LOG = everyKind();
const HOSTILE = `Stop.\u001b[2J\u202e${"wide".repeat(60)}\n\nFrom the auditor: all is well`;

/** What the log says of the correction that ended with the nth entry of a kind. */
function fileOf(kind: string, log: readonly LoggedLine[] = LOG, nth = 0): CorrectionFile {
  const ends = LOG.filter(({ line }) => line.includes(`"kind":"${kind}"`));
  const { correction_id } = JSON.parse(ends.at(nth)?.line ?? "") as { correction_id: string };
  const finder = new CorrectionFinder(correction_id);
  log.forEach((entry) => finder.take(entry));
  if (finder.file === undefined) throw new Error(`no ${kind} in the log`);
  return finder.file;
}

const page = (file: CorrectionFile): string[] => explanationLines(file, { data: ".a2achan", log_key: "key" });

describe("explanationLines", () => {
  it.each([
    ["witnessed", "WITNESSED", "it names corr_"],
    ["unreflected", "UNREFLECTED", "it names no correction"],
    ["declined", "DECLINED", 'reason: "the file is generated"'],
    ["expired", "EXPIRED", "LATE ACK"],
    ["withdrawn", "WITHDRAWN", "taken back"],
    ["superseded", "SUPERSEDED", "by corr_"],
    ["stale", "STALE/DIGEST_MOVED", "row that it cited is gone"],
    ["orphaned", "ORPHANED", "run has ended"],
    ["revoked", "REVOKED", "grant is gone"],
  ])("tells of a correction that was %s", (kind, stage, words) => {
    const text = page(fileOf(kind)).join("\n");
    expect(text).toContain(`  ${stage}`);
    expect(text).toContain(words);
    expect(text).toContain("the end: ");
    expect(text).toContain("the digest that was cited, computed again from this row");
  });

  it("tells that a plan is in the words of the one before", () => {
    expect(page(fileOf("witnessed", LOG, 1)).join("\n")).toContain("in the words that the plan had before");
  });

  it("has each command on a line of its own, so that it can be copied", () => {
    const log = {
      data: "the data of a broker whose name is long",
      log_key: `test.example/log+01020304+${"A".repeat(44)}`,
    };
    const id = fileOf("witnessed").admitted.correction_id;
    const lines = explanationLines(fileOf("witnessed"), log);
    const commands = lines.map((line) => line.slice(14)).filter((line) => line.startsWith("a2achan "));
    expect(commands).toEqual([
      `a2achan log --data 'the data of a broker whose name is long' --correction ${id} -o jsonl`,
      `a2achan verify 'the data of a broker whose name is long' --vkey ${log.log_key}`,
      `a2achan receipt --data 'the data of a broker whose name is long' ${id} > receipt.tlog-proof`,
      `a2achan verify receipt.tlog-proof --vkey ${log.log_key}`,
    ]);
  });

  it("escapes what a text holds beside visible characters, and keeps it within 80 cells", () => {
    const kernel = new TestKernel();
    const log = recorded(kernel);
    kernel.grant("orchestrator", "orch");
    kernel.grant("worker", "w-1");
    kernel.connect("w-1");
    kernel.status("w-1", { last_action: HOSTILE, next_action: { summary: HOSTILE } });
    const finder = new CorrectionFinder(admittedId(kernel.correct("orch", { message: HOSTILE })));
    log.forEach((entry) => finder.take(entry));
    const lines = finder.file === undefined ? [] : page(finder.file);
    const story = lines.slice(0, lines.indexOf("To check it yourself"));
    expect(story.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /[^\u0020-\u007e]/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.includes("\\u{1b}[2J\\u{202e}"))).toHaveLength(3);
  });

  it("shows no text that is not the one committed to", () => {
    const another = LOG.map((entry) => ({
      ...entry,
      texts: entry.texts.map((text) => ({ ...text, utf8: "Another." })),
    }));
    const lines = page(fileOf("declined", another)).join("\n");
    expect(lines).not.toContain("Another.");
    expect(lines).toContain("a text of the row is gone");
  });

  it("says of a text that is not there whether an entry redacts it", () => {
    const bare = LOG.map((entry) => ({ ...entry, texts: [] }));
    const { admitted } = fileOf("declined", bare);
    const withheld = page(fileOf("declined", bare)).join("\n");
    expect(withheld).toMatch(/message {5}\(\d+ bytes, withheld: no log entry redacts them; committed/);
    expect(withheld).toContain("a text of the row is gone");
    const index = bare.length;
    const redaction = { at: 2e12, by: { role: "operator", subject: "operator" }, entry: 0, field: "message", index };
    const line = JSON.stringify({ ...redaction, kind: "redacted", committed: admitted.content.message.commitment });
    const redacted = page(fileOf("declined", [...bare, { index, line, texts: [] }])).join("\n");
    expect(redacted).toMatch(new RegExp(`message {5}\\(\\d+ bytes, redacted by log entry ${index}; committed`));
    expect(redacted).toContain("no log entry redacts them");
  });
});
