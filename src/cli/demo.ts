import type { Command } from "commander";
import { Narrator } from "./demo/narrator.js";
import { tellStory } from "./demo/story.js";
import { print } from "./output.js";

export function demoCommand(program: Command): void {
  program
    .command("demo")
    .summary("see corrections take and fail, for real")
    .description("start a broker, workers and an orchestrator, and watch corrections take or fail; checks itself")
    .action(async () => {
      const say = new Narrator();
      await tellStory(say);
      print(`\nAll of it was checked: ${say.steps} checks hold. README.md says how to write your own worker.`);
    });
}
