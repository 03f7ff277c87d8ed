import {
  connectOrchestrator,
  isRefused,
  type Admitted,
  type Denied,
  type Orchestrator,
  type Receipt,
  type View,
} from "../../client/index.js";
import { CliError } from "../exit.js";
import { STAGE_WORDS } from "../stage-words.js";
import { BrokerProcess } from "./broker-process.js";
import type { Narrator } from "./narrator.js";
import { DemoWorker } from "./workers.js";

/** The whole job, for real: one broker process, two workers and an orchestrator over WebSocket. */
export async function tellStory(say: Narrator): Promise<void> {
  await using broker = await BrokerProcess.start();
  say.chapter("A broker starts");
  say.say(`process ${broker.pid}, ${broker.url}, data in ${broker.directory}`);

  const everywhere = { worker: "**", issue: "**", lane: "**" };
  const token = (subject: string): Promise<string> =>
    broker.token({ role: "worker", subject, issue: "**", lane: "**" });
  await using lead = await connectOrchestrator({
    url: broker.url,
    token: await broker.token({ role: "orchestrator", subject: "lead", ...everywhere }),
  });
  const hold = new Gate();
  await using _parser = await DemoWorker.start(
    { url: broker.url, token: await token("parser"), workerId: "parser" },
    {
      issue: 2162,
      lane: "src/parser",
      last_action: "read the failing test",
      next_action: { summary: "rewrite the tokenizer" },
    },
    async (correction) => {
      await hold.passed();
      const summary = correction.message.startsWith("Keep") ? "fix the off-by-one in parse.ts" : "run the whole suite";
      await correction.ack({ next_action: { summary, reflects: [correction.correction_id] } });
    },
  );
  await using _docs = await DemoWorker.start(
    { url: broker.url, token: await token("docs"), workerId: "docs" },
    { issue: 2170, lane: "docs", last_action: "read the guide", next_action: { summary: "rewrite the guide" } },
    async (correction) => {
      await correction.ack();
      await _docs.worker.plan("rewrite the guide, faster");
    },
  );

  const seen = await steer(say, lead);
  await refuse(say, lead, seen);
  await ignore(say, lead);
  await survive(say, lead, broker, hold);
}

/** (a) One worker is corrected while it runs. */
async function steer(say: Narrator, lead: Orchestrator): Promise<View> {
  say.chapter("(a) A running worker is corrected");
  const seen = await rowOf(lead, "parser");
  say.say(`parser works on issue ${seen.row.issue} in lane ${seen.row.lane}; next: "${seen.row.next_action?.summary}"`);
  say.say(
    `lead has read that row; its digest is ${seen.status_digest.slice(0, 19)}...; it corrects the worker, citing it:`,
  );
  const receipt = await lead.correct(seen, "Keep the tokenizer; fix the off-by-one in parse.ts.");
  await follow(say, admitted(receipt), ["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
  const now = await rowOf(lead, "parser");
  say.check("parser's plan", now.row.next_action?.summary, "fix the off-by-one in parse.ts");
  say.say(`parser's next planned action is now "${now.row.next_action?.summary}"`);
  return seen;
}

/** (b) What never reaches a worker. */
async function refuse(say: Narrator, lead: Orchestrator, stale: View): Promise<void> {
  say.chapter("(b) The broker refuses what does not fit, before any worker sees it");
  const old = denied(await lead.correct(stale, "Stop rewriting."));
  say.check("a stale citation", [old.reason, old.detail], ["UNWITNESSED", "DIGEST"]);
  say.row(
    "UNWITNESSED/DIGEST",
    `lead cites the row as it was; since then moved: ${old.moved.map(({ field }) => field).join(", ")}`,
  );

  const fresh = await rowOf(lead, "parser");
  const scope = { issue: fresh.row.issue, lane: "src/lexer" };
  const astray = denied(await lead.correct(fresh, "Stay in the lexer.", { scope }));
  say.check("a wrong lane", [astray.reason, astray.detail], ["TRUST_VIOLATION", "SCOPE"]);
  say.row("TRUST_VIOLATION/SCOPE", `lead names lane ${scope.lane}, the worker is in ${fresh.row.lane}`);

  const long = denied(await lead.correct(fresh, "x".repeat(1_025)));
  say.check("1,025 bytes", [long.reason, long.bytes, long.max_bytes], ["OVERSIZE", 1_025, 1_024]);
  say.row("OVERSIZE", `${long.bytes} bytes; at most ${long.max_bytes} go, and nothing is ever cut`);
}

/** (c) A worker that says yes and does something else. */
async function ignore(say: Narrator, lead: Orchestrator): Promise<void> {
  say.chapter("(c) An ack alone proves nothing");
  const receipt = await lead.correct(await rowOf(lead, "docs"), "Leave the guide; write the changelog.");
  await follow(say, admitted(receipt), ["ADMITTED", "DELIVERED", "ACKED", "UNREFLECTED"]);
  say.say("lead knows at once that the correction did not take, and can decide again.");
}

/** (d) The broker dies with a correction on its way. */
async function survive(say: Narrator, lead: Orchestrator, broker: BrokerProcess, hold: Gate): Promise<void> {
  say.chapter("(d) The broker is killed (SIGKILL) while a correction is open, and starts again");
  hold.shut();
  const receipt = admitted(await lead.correct(await rowOf(lead, "parser"), "Run the whole suite before you go on."));
  await follow(say, receipt, ["ADMITTED", "DELIVERED"]);
  const killed = broker.pid;
  await broker.killAndRestart();
  say.say(`process ${killed} is dead; process ${broker.pid} has taken up its log; everybody reconnects`);
  hold.open();
  const outcome = await receipt.outcome;
  say.check("the end after the restart", outcome.stage, "WITNESSED");
  say.row(outcome.stage, `log entry ${outcome.index}: nothing that was answered is lost`);
}

async function rowOf(lead: Orchestrator, workerId: string): Promise<View> {
  const view = await lead.get(workerId);
  if (view === undefined || isRefused(view)) throw new CliError(`the demo went wrong: ${workerId} has no row`);
  return view;
}

/** Tells the first stages of a correction as its sender hears them, as many as are expected. */
async function follow(say: Narrator, receipt: Admitted, expected: readonly string[]): Promise<void> {
  const told: string[] = [];
  for await (const { stage, index } of receipt.stages()) {
    say.row(stage, `log entry ${index}: ${STAGE_WORDS[stage]}`);
    told.push(stage);
    if (told.length === expected.length) break;
  }
  say.check("the stages", told, expected);
}

function admitted(receipt: Receipt): Admitted {
  if (receipt.verdict === "ALLOW") return receipt;
  throw new CliError(`the demo went wrong: a correction was refused with ${receipt.reason}`);
}

function denied(receipt: Receipt): Denied {
  if (receipt.verdict === "DENY") return receipt;
  throw new CliError("the demo went wrong: a correction was admitted that must be refused");
}

/** Lets the worker's turns pass, or holds them. */
class Gate {
  #open: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  shut(): void {
    this.#open = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  open(): void {
    this.#release();
  }

  passed(): Promise<void> {
    return this.#open;
  }
}
