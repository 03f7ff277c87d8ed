import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Journal } from "../../../../src/storage/journal/index.js";
import { systemFiles } from "../../../../src/storage/journal/files.js";
import { eventStoreSuite } from "../../../support/event-store-suite.js";
import { batchAt, expectLog } from "../../../support/journal-scenes.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const open = (segmentBytes = 1_000): Promise<Journal> =>
  Journal.open({ directory: join(folder, "a", "log"), segmentBytes });

const sha256 = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** RFC 6962 section 2.1, as it is written there. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only !== undefined && leaves.length === 1) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256("\u0001", treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

eventStoreSuite("Journal on the system's files", () =>
  Journal.open({ directory: join(mkdtempSync(join(folder, "s-")), "log") }),
);

describe("the files of a journal", () => {
  it("are the owner's only, in directories that were made for them", async () => {
    const journal = await open();
    for (const first of [0, 4, 8]) await journal.append(batchAt(first, 4));
    await journal.close();
    expect(readdirSync(join(folder, "a")).sort()).toEqual(["head", "log"]);
    const names = ["00000000.hashes", "00000000.jsonl", "00000001.jsonl"];
    expect(readdirSync(join(folder, "a", "log")).sort()).toEqual(names);
    for (const path of ["a/head", ...names.map((name) => `a/log/${name}`)])
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    for (const path of ["a", "a/log"]) expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
  });

  it("are read again by the next start, which goes on", async () => {
    for (const first of [0, 3, 6]) {
      const journal = await open();
      await expectLog(journal, first);
      await journal.append(batchAt(first, 3));
      await journal.close();
    }
    await expectLog(await open(), 9);
  });

  it("are lines of JSON, of which the hashes make the tree that each batch tells of", async () => {
    const journal = await open();
    for (const first of [0, 3, 6, 9, 12]) await journal.append(batchAt(first, 3));
    await journal.close();
    const names = readdirSync(join(folder, "a", "log")).filter((name) => name.endsWith(".jsonl"));
    const text = names.map((name) => readFileSync(join(folder, "a", "log", name), "utf8")).join("");
    const lines = text.split("\n").slice(0, -1);
    const parsed = lines.map((line) => JSON.parse(line) as { index?: number; batch?: { size: number; root: string } });
    const entries = lines.filter((_, at) => parsed[at]?.index !== undefined);
    expect(entries).toEqual(batchAt(0, 15).entries);
    const leaves = entries.map((line) => sha256("\0", line));
    const batches = parsed.flatMap(({ batch }) => (batch === undefined ? [] : [batch]));
    expect(batches.map(({ size }) => size)).toEqual([3, 6, 9, 12, 15]);
    for (const { size, root } of batches) expect(root).toBe(treeHash(leaves.slice(0, size)).toString("hex"));
    expect(batches.at(-1)?.root).toBe(journal.head().root);
    const [line = ""] = text.split("\n");
    const printed = execFileSync("sha256sum", { input: `\0${line}` }).toString();
    expect(printed.slice(0, 64)).toBe(leaves[0]?.toString("hex"));
  });
});

describe("the system's files", () => {
  it("make no file twice, and read nothing of one that is not there", async () => {
    const path = join(folder, "file");
    const file = await systemFiles.open(path, "create");
    await file.close();
    await expect(systemFiles.open(path, "create")).rejects.toThrow("EEXIST");
    await expect(systemFiles.open(`${path}-`, "write")).rejects.toThrow("ENOENT");
    expect([await systemFiles.exists(path), await systemFiles.exists(`${path}-`)]).toEqual([true, false]);
    expect(await systemFiles.list(join(folder, "none"))).toEqual([]);
    await systemFiles.remove(path);
    await systemFiles.remove(path);
    expect(await systemFiles.list(folder)).toEqual([]);
  });

  it("write and read at any place, and no further than the end", async () => {
    const file = await systemFiles.open(join(folder, "file"), "create");
    await file.write(Buffer.from("abcdef"), 0);
    await file.write(Buffer.from("XY"), 2);
    const into = Buffer.alloc(10);
    expect([await file.read(into, 1), into.toString("utf8", 0, 5)]).toEqual([5, "bXYef"]);
    await file.truncate(3);
    await file.sync();
    expect([await file.size(), await file.read(into, 0), await file.read(into, 3)]).toEqual([3, 3, 0]);
    await file.close();
  });
});
