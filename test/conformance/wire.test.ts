import { afterAll, beforeAll, describe, it } from "vitest";
import { provideTarget } from "./broker-process.js";
import { Runner } from "./runner.js";
import { loadCommon, loadTopics, type Scenario } from "./scenario.js";

let runner: Runner;
let release: () => Promise<void> = () => Promise.resolve();

beforeAll(async () => {
  const provided = await provideTarget();
  release = provided.release;
  runner = new Runner(provided.target, loadCommon());
}, 60_000);

afterAll(() => release());

async function expectPlayed(scenario: Scenario): Promise<void> {
  await runner.play(scenario);
}

describe.each(loadTopics().map(({ topic, scenarios }) => [topic, scenarios] as const))("%s", (_topic, scenarios) => {
  it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))("%s", async (_title, scenario) => {
    await expectPlayed(scenario);
  });
});

function titleOf({ name, requirements }: Scenario): string {
  return [name, ...requirements.map((id) => `[${id}]`)].join(" ");
}
