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
