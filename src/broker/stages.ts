import { decodeEntry, stageOf, stageView, type StageView } from "../kernel/index.js";
import type { PushOf } from "../protocol/index.js";
import type { EventStore } from "../storage/event-store.js";
import type { Core } from "./core.js";
import { cursorAt } from "./cursors.js";
import { Outgoing } from "./peer.js";
import type { Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import { nextTurn } from "./turns.js";

const READ_AT_ONCE = 256;

/** The push that tells a sender of a stage; its cursor lies just behind the stage's entry. */
function stagePush(shard: string, stage: StageView): PushOf<"stage"> {
  const { correction_id, worker_id, index, at, detail, echo } = stage;
  const push: PushOf<"stage"> = { type: "stage", correction_id, worker_id, stage: stage.stage, index, at };
  if (detail !== undefined) push.detail = detail;
  if (echo !== undefined) push.echo = echo;
  push.cursor = cursorAt(shard, index + 1);
  return push;
}

/** Tells the sender's sessions of a stage. A session that still resumes will read it from the log. */
export function tellSender(core: Core, sessions: Sessions, sender: string, stage: StageView, except?: Session): void {
  const out = new Outgoing(stagePush(core.state.shard, stage));
  for (const session of sessions.sender(sender)) {
    if (session === except) continue;
    core.post(() => {
      if (!session.resuming) session.push(out);
    });
  }
}

/** Sends an orchestrator `first`, then every stage of its corrections from entry `from` on, then lets live pushes through. */
export async function resume(
  core: Core,
  store: EventStore,
  session: Session,
  from: number,
  first: readonly PushOf<"stage">[] = [],
): Promise<void> {
  await session.feed(first);
  let at = from;
  const { shard } = core.state;
  while (!session.closed && at < core.durable) {
    const { entries } = await store.read(at, Math.min(READ_AT_ONCE, core.durable - at));
    const start = at;
    at += entries.length;
    const frames = entries.flatMap((line, offset) => {
      const event = decodeEntry(line);
      if (!("orchestrator_id" in event) || event.orchestrator_id !== session.by.subject) return [];
      const stage = stageOf(event, start + offset);
      return stage === undefined ? [] : [stagePush(shard, stage)];
    });
    await session.feed(frames);
    await nextTurn();
  }
  session.resuming = false;
}

/**
 * Where the sender's open corrections stand now: what a client gets whose cursor is of another log. Their cursor is that
 * of the welcome: they tell a state, and nothing that went before it comes again.
 */
export function openStages(core: Core, session: Session): PushOf<"stage">[] {
  const { shard, size, senders } = core.state;
  const open = senders.get(session.by.subject)?.open.values() ?? [];
  const cursor = cursorAt(shard, size);
  return [...open].map((correction) => ({ type: "stage", ...stageView(correction), cursor }));
}
