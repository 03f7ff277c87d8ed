import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { nodesOf } from "../../../src/cli/completion/tree.js";
import { a2achanProgram } from "../../../src/cli/program.js";
import { projectRoot } from "../../support/source-files.js";

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

describe("the program", () => {
  it("has these commands", () => {
    expect(a2achanProgram().commands.map((command) => command.name())).toEqual([
      "serve",
      "status",
      "token",
      "workers",
      "get",
      "correct",
      "stage",
      "withdraw",
      "log",
      "explain",
      "verify",
      "export",
      "receipt",
      "redact",
      "demo",
      "completion",
    ]);
  });

  it("has one file a command", () => {
    const files = readdirSync(join(projectRoot, "src", "cli"));
    for (const command of a2achanProgram().commands) expect(files).toContain(`${command.name()}.ts`);
  });

  it("takes no token on the command line, and agrees to nothing beforehand", () => {
    const flags = allCommands(a2achanProgram()).flatMap(({ options }) => options.map(({ long }) => long));
    expect(flags).toContain("--token-file");
    for (const flag of ["--token", "--yes", "--force", "--latest"]) expect(flags).not.toContain(flag);
  });

  it("says of every command and option what it is for", () => {
    for (const command of allCommands(a2achanProgram())) {
      expect(command.description()).not.toBe("");
      for (const { description } of command.options) expect(description).not.toBe("");
    }
  });
});

describe("the help", () => {
  it("shows no default as a program would write it", () => {
    const shown = allCommands(a2achanProgram()).map((command) => command.helpInformation());
    expect(shown.filter((text) => /\[\]|\{\}|undefined/.test(text))).toEqual([]);
  });
});

describe("a call that the program has no sense for", () => {
  it.each([
    [["foo"], "unknown command 'foo'; see: a2achan help"],
    [["statsu"], "unknown command 'statsu' (did you mean status?); see: a2achan help"],
    [["help", "foo"], "unknown command 'foo'; see: a2achan help"],
    [["token", "ad"], "unknown command 'ad' (did you mean add?); see: a2achan help token"],
    [["token", "help", "foo"], "unknown command 'foo'; see: a2achan help token"],
    [["--foo"], "unknown option '--foo'; see: a2achan help"],
    [["workers", "--watc"], "unknown option '--watc' (did you mean --watch?); see: a2achan help workers"],
    [["log", "--kind"], "option '--kind <kind>' argument missing; see: a2achan help log"],
    [["token", "add"], "required option '--role <role>' not specified; see: a2achan token help add"],
    [["correct", "w-1"], "missing required argument 'message'; see: a2achan help correct"],
    [
      ["correct", "w-1", "Keep", "it."],
      "too many arguments for 'correct': expected 2 arguments but got 3; see: a2achan help correct",
    ],
    [
      ["get", "w-1", "-o", "xml"],
      "option '-o, --output <format>' argument 'xml' is invalid: allowed choices are table, json, jsonl; see: a2achan help get",
    ],
    [
      ["serve", "--port", "x"],
      "option '--port <n>' argument 'x' is invalid: a port is a number from 0 to 65535; see: a2achan help serve",
    ],
    [
      ["completion", "tcsh"],
      "value 'tcsh' is invalid for argument 'shell': allowed choices are bash, zsh, fish; see: a2achan help completion",
    ],
  ])("is told so in one sentence, with where to look, and ends with 2: %j", async (words, sentence) => {
    const call = a2achanProgram().parseAsync(words, { from: "user" });
    await expect(call).rejects.toMatchObject({ name: "CliError", message: sentence, exitCode: 2 });
  });
});

describe("nodesOf", () => {
  it("knows every command, option and choice of the program", () => {
    const nodes = nodesOf(a2achanProgram());
    const commands = allCommands(a2achanProgram());
    expect(nodes.length).toBe(commands.length);
    for (const command of commands) {
      const path: string[] = [];
      for (let at = command; at.parent !== null; at = at.parent) path.unshift(at.name());
      const node = nodes.find((one) => one.path === path.join(" "));
      const known = node?.options.flatMap(({ flags }) => flags);
      for (const { long } of command.options) expect(known).toContain(long);
      for (const { argChoices, long } of command.options)
        expect(node?.options.find(({ flags }) => flags.includes(long ?? ""))?.choices).toEqual(argChoices ?? []);
      for (const sub of command.commands) expect(node?.words.map(({ word }) => word)).toContain(sub.name());
    }
  });
});
