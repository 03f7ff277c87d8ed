import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openCheckpoint, parseCheckpoint, signCheckpoint } from "../../../src/tlog/checkpoint.js";
import { parseVerifierKey, signerKey, signNote } from "../../../src/tlog/note.js";

const KEY = signerKey("log.example/a", Buffer.alloc(32, 9));
const ROOT = Buffer.from("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=", "base64");

describe("a checkpoint", () => {
  it("is three lines under the log's own name", () => {
    const note = signCheckpoint(20_852_163, ROOT, KEY);
    expect(note.split("\n").slice(0, 5)).toEqual([
      "log.example/a",
      "20852163",
      "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
      "",
      expect.stringMatching(/^\u2014 log\.example\/a \S{92}$/),
    ]);
    expect(openCheckpoint(note, KEY)).toEqual({ origin: "log.example/a", size: 20_852_163, root: ROOT });
  });

  it.each([
    ["a leading zero", "log.example/a\n07\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"],
    ["a size past 2^53-1", "log.example/a\n9007199254740992\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"],
    ["a short root", "log.example/a\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n"],
    ["an extension line", "log.example/a\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\nmore\n"],
    ["no origin", "\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"],
    ["another log's origin", "log.example/b\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"],
  ])("is malformed with %s, however well signed", (_, text) => {
    expect(openCheckpoint(signNote(text, KEY), KEY)).toBe("malformed");
  });

  it("does not open for another key of the same name", () => {
    const other = signerKey("log.example/a", Buffer.alloc(32, 8));
    expect(openCheckpoint(signCheckpoint(7, ROOT, KEY), other)).toBe("unsigned");
  });
});

describe("the checkpoints of transparency-dev/tessera", () => {
  const log = new URL("../../../../shared/vectors/public/tessera-log/", import.meta.url);
  if (!existsSync(log)) {
    it.skip("are not beside this checkout: their signatures are not checked", () => {});
    return;
  }
  const read = (path: string): string => readFileSync(new URL(path, log), "utf8");
  const key = parseVerifierKey(read("vkey").trim());
  if (key === undefined) throw new Error("the log's key cannot be read");

  it.each(Array.from({ length: 16 }, (_, size) => size))("opens at size %i", (size) => {
    const note = read(`testdata/log/checkpoint.${size}`);
    const [origin, count, root] = note.split("\n");
    const opened = openCheckpoint(note, key);
    if (typeof opened === "string") throw new Error(opened);
    expect([opened.origin, `${opened.size}`, Buffer.from(opened.root).toString("base64")]).toEqual([
      origin,
      count,
      root,
    ]);
    expect(opened.size).toBe(size);
    expect(parseCheckpoint(note.slice(0, note.indexOf("\n\n") + 1))).toEqual(opened);
    expect(openCheckpoint(note.replace(`\n${size}\n`, `\n${size + 1}\n`), key)).toBe("bad_signature");
  });
});
