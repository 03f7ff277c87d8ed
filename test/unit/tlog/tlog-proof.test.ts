import { describe, expect, it } from "vitest";
import { signCheckpoint } from "../../../src/tlog/checkpoint.js";
import { inclusionProof, leafHash } from "../../../src/tlog/merkle.js";
import { signerKey } from "../../../src/tlog/note.js";
import { PackedTree } from "../../../src/tlog/packed-tree.js";
import { formatTlogProof, parseTlogProof, verifyTlogProof } from "../../../src/tlog/tlog-proof.js";

const KEY = signerKey("log.example/a", Buffer.alloc(32, 9));
const ENTRIES = Array.from({ length: 7 }, (_, index) => `{"index":${index},"kind":"é"}`);
const tree = new PackedTree();
for (const entry of ENTRIES) tree.append(leafHash(entry));
const checkpoint = signCheckpoint(7, tree.root(), KEY);
const PROOF = { index: 5, entry: ENTRIES[5] ?? "", hashes: inclusionProof(tree, 5, 7), checkpoint };
const TEXT = formatTlogProof(PROOF);

describe("a proof in a file", () => {
  it("has the lines of C2SP tlog-proof, the entry as its extra data", () => {
    const lines = TEXT.split("\n");
    expect(lines.slice(0, 3)).toEqual(["c2sp.org/tlog-proof@v1", "extra eyJpbmRleCI6NSwia2luZCI6IsOpIn0=", "index 5"]);
    expect(lines.slice(3, 6).map((line) => Buffer.from(line, "base64").length)).toEqual([32, 32, 32]);
    expect(lines.slice(6, 10)).toEqual(["", "log.example/a", "7", Buffer.from(tree.root()).toString("base64")]);
  });

  it("says under which checkpoint the entry stands", () => {
    const read = parseTlogProof(TEXT);
    expect(read).toEqual(PROOF);
    expect(verifyTlogProof(read ?? PROOF, KEY)).toEqual({ origin: "log.example/a", size: 7, root: tree.root() });
  });

  it("holds for no other entry, index, path or key", () => {
    expect(verifyTlogProof({ ...PROOF, entry: ENTRIES[4] ?? "" }, KEY)).toBe("not_included");
    expect(verifyTlogProof({ ...PROOF, index: 4 }, KEY)).toBe("not_included");
    expect(verifyTlogProof({ ...PROOF, hashes: PROOF.hashes.slice(1) }, KEY)).toBe("not_included");
    expect(verifyTlogProof(PROOF, signerKey("log.example/a", Buffer.alloc(32, 8)))).toBe("unsigned");
    const grown = checkpoint.replace("\n7\n", "\n8\n");
    expect(verifyTlogProof({ ...PROOF, checkpoint: grown }, KEY)).toBe("bad_signature");
  });

  it.each([
    ["another version", TEXT.replace("@v1", "@v2")],
    ["no extra data", TEXT.replace(/extra .*\n/, "")],
    ["an index with a zero in front", TEXT.replace("index 5", "index 05")],
    ["a hash of 31 bytes", TEXT.replace(/\n[^\n]{44}\n\n/, `\n${Buffer.alloc(31).toString("base64")}\n\n`)],
    ["no checkpoint", TEXT.slice(0, TEXT.indexOf("\n\n") + 1)],
    ["nothing", ""],
  ])("is not read with %s", (_, text) => {
    expect(parseTlogProof(text)).toBeUndefined();
  });
});
