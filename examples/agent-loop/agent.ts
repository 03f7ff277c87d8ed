import { isRefused, renderForModel, type Correction, type Worker } from "a2achan/client";
import type { Model } from "./model.js";

export interface Task {
  issue: number;
  lane: string;
  goal: string;
  /** Does what was planned and says in a sentence what came of it: your agent's tools. */
  act: (plan: string) => Promise<string>;
}

/**
 * The loop of an agent: plan, publish the plan, take corrections, act. A correction that comes while the agent acts
 * waits for the turn boundary; there the model reads it before the next action, and answers it with another plan or
 * with a reason why not. Returns all that the model has read.
 */
export async function runAgent(worker: Worker, model: Model, task: Task): Promise<readonly string[]> {
  const context = [task.goal];
  let last_action = "read the task";
  for (;;) {
    const turn = await model(context);
    if ("done" in turn) break;
    if ("decline" in turn) throw new Error("the model declines, and nothing was asked of it");
    const published = await worker.status({
      issue: task.issue,
      lane: task.lane,
      last_action,
      next_action: { summary: turn.plan },
    });
    if (isRefused(published)) throw new Error(published.advice);

    let { plan } = turn;
    for (const correction of await worker.take()) plan = (await consider(correction, model, context)) ?? plan;

    last_action = await task.act(plan);
    context.push(last_action);
  }
  const refused = await worker.bye("completed");
  if (refused !== undefined) throw new Error(refused.advice);
  return context;
}

/** Shows a correction to the model and sends its answer. Returns the new plan, if the model has changed it. */
async function consider(correction: Correction, model: Model, context: string[]): Promise<string | undefined> {
  context.push(renderForModel(correction));
  const turn = await model(context);
  if ("plan" in turn) {
    const next_action = { summary: turn.plan, reflects: [correction.correction_id] };
    const answer = await correction.ack({ next_action });
    if (isRefused(answer)) throw new Error(answer.advice);
    // Any other stage is an end that came first; then the plan was not taken either.
    return answer.stage === "WITNESSED" ? turn.plan : undefined;
  }
  const answer = await correction.decline("decline" in turn ? turn.decline : "the task is done");
  if (isRefused(answer)) throw new Error(answer.advice);
  return undefined;
}
