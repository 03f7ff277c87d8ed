import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { a2achan } from "../support/program.js";

const installed = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;
const [hasZsh, hasFish] = [installed("zsh"), installed("fish")];
for (const [shell, has] of Object.entries({ zsh: hasZsh, fish: hasFish }))
  if (!has) console.warn(`${shell} is not installed: its completion is not run`);

let folder: string;
const scripts: Record<string, string> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "a2achan-test-"));
  mkdirSync(join(folder, "a data dir"));
  writeFileSync(join(folder, "a file"), "");
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await a2achan("completion", shell).ended;
    if (code !== 0) throw new Error(`completion ${shell} ended with ${code}`);
    scripts[shell] = join(folder, `completion.${shell}`);
    writeFileSync(scripts[shell], stdout);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function shell(name: string, ...args: string[]): string[] {
  const { stdout, stderr, status } = spawnSync(name, args, { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
}

/** What bash offers for the last of these words. */
function inBash(...words: string[]): string[] {
  const script = `source "$1"; shift; COMP_WORDS=(a2achan "$@"); COMP_CWORD=$#; _a2achan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell("bash", "--norc", "-c", script, "bash", scripts["bash"] ?? "", ...words);
}

describe("a2achan completion bash", () => {
  it("completes commands, and the commands of a command", () => {
    expect(inBash("wo")).toEqual(["workers"]);
    expect(inBash("s")).toEqual(["serve", "status", "stage"]);
    expect(inBash("token", "")).toEqual(["add", "list", "revoke", "help"]);
    expect(inBash("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it("completes the options of the command that the words name", () => {
    expect(inBash("correct", "w-1", "--d")).toEqual(["--digest", "--data"]);
    expect(inBash("token", "add", "--su")).toEqual(["--subject"]);
    expect(inBash("workers", "--wa")).toEqual(["--watch"]);
    expect(inBash("workers", "--no")).toEqual(["--no-color"]);
    expect(inBash("workers", "--digest")).toEqual([]);
  });

  it("completes what an option takes: choices, directories, files, or nothing that it could know", () => {
    expect(inBash("workers", "-o", "j")).toEqual(["json", "jsonl"]);
    expect(inBash("workers", "--data", "a")).toEqual(["a data dir"]);
    expect(inBash("workers", "--token-file", "a")).toEqual(["a data dir", "a file"]);
    expect(inBash("correct", "w-1", "--digest", "")).toEqual([]);
  });

  it("takes the value of an option for no command", () => {
    expect(inBash("--data", "log", "workers", "--wa")).toEqual(["--watch"]);
    expect(inBash("log", "--worker", "token", "--fo")).toEqual(["--follow"]);
  });

  it("refuses a shell that it does not know with 2", async () => {
    expect(await a2achan("completion", "csh").ended).toMatchObject({ code: 2, stdout: "" });
  });
});

describe.skipIf(!hasFish)("a2achan completion fish", () => {
  const inFish = (line: string): string[] =>
    shell("fish", "--no-config", "-c", `source ${scripts["fish"]}; complete -C '${line}'`).map(
      (offer) => offer.split("\t")[0] ?? "",
    );

  it("completes commands, options and choices", () => {
    expect(inFish("a2achan wo")).toEqual(["workers"]);
    expect(inFish("a2achan token ")).toEqual(["add", "help", "list", "revoke"]);
    expect(inFish("a2achan correct w-1 --di")).toEqual(["--digest"]);
    expect(inFish("a2achan workers -o j")).toEqual(["json", "jsonl"]);
    expect(inFish("a2achan log --worker token --fo")).toEqual(["--follow"]);
  });
});

describe.skipIf(!hasZsh)("a2achan completion zsh", () => {
  // The completion system itself needs a line editor; what is asked of it is recorded instead.
  const inZsh = (...words: string[]): string[] =>
    shell(
      "zsh",
      "-f",
      "-c",
      `compdef() {}
       compadd() { shift; print -l -- "$@" }
       _describe() { print -l -- "\${(@P)2}" }
       source "$1"; shift
       words=(a2achan "$@"); CURRENT=$#words; PREFIX=$words[-1]
       _a2achan`,
      "zsh",
      scripts["zsh"] ?? "",
      ...words,
    ).map((offer) => offer.split(":")[0] ?? "");

  it("offers commands, options and choices", () => {
    expect(inZsh("")).toContain("workers");
    expect(inZsh("token", "")).toEqual(["add", "list", "revoke", "help"]);
    expect(inZsh("correct", "w-1", "-")).toContain("--digest");
    expect(inZsh("workers", "-o", "")).toEqual(["table", "json", "jsonl"]);
    expect(inZsh("log", "--worker", "token", "-")).toContain("--follow");
  });
});
