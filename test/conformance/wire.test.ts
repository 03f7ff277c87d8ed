import { afterAll, beforeAll, describe, it } from "vitest";
import { provideTarget } from "./broker-process.js";
import { codecsToPlay, type CodecName } from "./codec.js";
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

async function expectPlayed(scenario: Scenario, codec: CodecName): Promise<void> {
  await runner.play(scenario, codec);
}

const topics = codecsToPlay()
  .flatMap((codec) =>
    loadTopics().map(({ topic, scenarios }) => [topic, codec, scenarios.filter(isOver(codec))] as const),
  )
  .filter(([_topic, _codec, scenarios]) => scenarios.length > 0);

describe.each(topics)("%s over %s", (_topic, codec, scenarios) => {
  it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))("%s", async (_title, scenario) => {
    await expectPlayed(scenario, codec);
  });
});

function isOver(codec: CodecName): (scenario: Scenario) => boolean {
  return (scenario) => scenario.codec === undefined || scenario.codec === codec;
}

function titleOf({ name, requirements }: Scenario): string {
  return [name, ...requirements.map((id) => `[${id}]`)].join(" ");
}
