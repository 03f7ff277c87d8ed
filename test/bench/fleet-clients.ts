import { WebSocket } from "ws";
import type { Ask, Sizes, Snapshot } from "./fleet.js";

/**
 * Clients of a fleet, in a process of their own: a process may have only so many sockets. They speak raw frames and
 * look only at what is counted.
 */
const workers: WebSocket[] = [];
const watchers: WebSocket[] = [];
/** Bytes of the answers to the frames of the last socket that was opened. */
const sizes: Sizes = { answers: [], push: 0 };
/** Pushes that came in: in all, and those that tell of the latest step. */
let pushes = 0;
let latest = 0;
let step = 0;
let awaited: { holds: () => boolean; resolve: () => void } | undefined;

const AT_ONCE = 64;
const SCOPE = '"issue":"2162","lane":"src/net"';

function status(): string {
  return (
    `{"type":"status","id":"s",${SCOPE},"last_action":"read the issue and the failing test (step ${step})",` +
    `"next_action":{"summary":"add a retry to the fetch of the index"}}`
  );
}

/** The frames that a client sends at first, each on the answer to the one before it. */
function script(role: Ask["role"], at: number): string[] {
  if (role === "watcher") return ['{"type":"hello","id":"h","role":"orchestrator"}', '{"type":"watch","id":"w"}'];
  return [`{"type":"hello","id":"h","role":"worker","worker_id":"w-${at}","lease_ms":900000}`, status()];
}

function count(data: Buffer): void {
  pushes += 1;
  sizes.push = data.length;
  if (data.includes(`(step ${step})`)) latest += 1;
  if (awaited?.holds() === true) awaited.resolve();
}

function counted(holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    awaited = { holds, resolve };
    if (holds()) resolve();
  });
}

function opened({ url, role, silent }: Ask, token: string | undefined, at: number): Promise<void> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { headers, perMessageDeflate: false, skipUTF8Validation: true };
  const socket = new WebSocket(url, token === undefined ? [] : ["a2achan.v1.json"], options);
  (role === "watcher" ? watchers : workers).push(socket);
  const frames = script(role, at).slice(0, silent === true ? 1 : undefined);
  // A worker of the broker is sent answers only; what a bare server sends is all alike.
  const counts = token === undefined || (role === "watcher" && silent !== true);
  return new Promise((resolve, reject) => {
    const answers: number[] = [];
    let left = frames.length;
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`closed ${code}`)));
    socket.on("open", () => socket.send(frames[0] ?? ""));
    socket.on("message", (data) => {
      if (left === 0) return counts ? count(data as Buffer) : undefined;
      answers.push((data as Buffer).length);
      left -= 1;
      if (left > 0) return socket.send(frames[frames.length - left] ?? "");
      sizes.answers = answers;
      resolve();
    });
  });
}

/** Opens clients, by their numbers: each with its token, or without any. */
async function openAll(ask: Ask): Promise<Sizes> {
  const { tokens, from = 0, count: to } = ask;
  for (let at = from; at < to; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, to - at) }, (_, one) => at + one);
    await Promise.all(some.map((one) => opened(ask, tokens?.[one], one)));
  }
  return sizes;
}

/** So many workers publish `steps` new rows one behind the other; resolves when every watcher knows the last of each. */
async function publish(publishers: number, steps: number): Promise<number> {
  const before = pushes;
  for (let left = steps; left > 0; left -= 1) {
    step += 1;
    latest = 0;
    for (const socket of workers.slice(0, publishers)) socket.send(status());
  }
  const most = publishers * watchers.length;
  await counted(() => latest >= most);
  return pushes - before;
}

/** The first watcher, silent so far, watches: resolves with its snapshot, and its pushes are counted from then on. */
function snapshot(): Promise<Snapshot> {
  const [socket] = watchers;
  const seen: Snapshot = { pages: 0, rows: 0, longest: 0 };
  return new Promise((resolve) => {
    const onPage = (data: Buffer): void => {
      seen.pages += 1;
      seen.longest = Math.max(seen.longest, data.length);
      seen.rows += data.toString("latin1").split('"status_digest"').length - 1;
      if (!data.includes('"done":true')) return;
      socket?.off("message", onPage);
      socket?.on("message", count);
      resolve(seen);
    };
    socket?.off("message", count);
    socket?.on("message", onPage);
    socket?.send('{"type":"watch","id":"w"}');
  });
}

process.on("message", (question: string) => {
  const ask = JSON.parse(question) as Ask;
  const answer = (): Promise<unknown> => {
    if (ask.what === "open") return openAll(ask);
    if (ask.what === "publish") return publish(ask.count, ask.steps ?? 1);
    return ask.what === "snapshot" ? snapshot() : counted(() => pushes >= ask.count);
  };
  void answer().then((what) => process.send?.(what ?? 0));
});
process.on("disconnect", () => process.exit());
process.send?.(0);
