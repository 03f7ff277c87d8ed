import type { Command } from "commander";
export function demoCommand(program: Command): void {
  program.command("demo").action(() => {});
}
