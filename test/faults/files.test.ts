import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LoadClient } from "../crash/client.js";
import { builtProgram, Program } from "../support/program.js";
import { admit, publish } from "../support/scenes.js";
import { EVERYWHERE, Serve, dataDirectory } from "../support/serve.js";
import { Wire } from "../support/wire.js";

const why = whyNoLimits();
if (why !== undefined) console.warn(`the limit of open files is not tried: ${why}`);

/** Why a process cannot be held to so many open files here; undefined where it can. */
function whyNoLimits(): string | undefined {
  if (process.platform !== "linux") return "prlimit is Linux's";
  return spawnSync("prlimit", ["--version"]).error === undefined ? undefined : "prlimit is not installed";
}

let directory: ReturnType<typeof dataDirectory>;
let sockets: Socket[];

beforeEach(() => {
  directory = dataDirectory();
  sockets = [];
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  directory[Symbol.dispose]();
});

/** Begins handshakes that are never sent to their end; resolves when `event` has come to all of them, or to the first. */
async function beginHandshakes(broker: Serve, count: number, event: "connect" | "close"): Promise<void> {
  const opened = Array.from({ length: count }, async () => {
    const socket = connect(Number(new URL(broker.url).port), "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {}).on("connect", () => socket.write("GET /v1 HTTP/1.1\r\nHost: "));
    await new Promise<void>((resolve) => socket.once(event, () => resolve()));
  });
  await (event === "close" ? Promise.race(opened) : Promise.all(opened));
}

function openFiles(broker: Serve): number {
  return readdirSync(`/proc/${broker.program.pid}/fd`).length;
}

async function pair(broker: Serve): Promise<{ worker: Wire; orchestrator: Wire; token: string }> {
  const { token: own } = await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  const { token } = await broker.token({ role: "orchestrator", subject: "orch", ...EVERYWHERE });
  return {
    worker: await Wire.hello(broker.url, own, { role: "worker", worker_id: "w-1" }),
    orchestrator: await Wire.hello(broker.url, token, { role: "orchestrator" }),
    token,
  };
}

const attempt = (broker: Serve, token: string): Promise<LoadClient> =>
  LoadClient.connect(broker.url, token, { role: "orchestrator" }, () => {});

describe.skipIf(why !== undefined)("a broker whose open files are used up", () => {
  it("serves the sessions that stand, writes its log, refuses newcomers, and takes them again later [A2C-LIM-09]", async () => {
    const broker = await Serve.start(directory.path);
    const { worker, orchestrator, token } = await pair(broker);
    const { pid } = broker.program;
    expect(spawnSync("prlimit", ["--pid", String(pid), "--nofile=64:"]).status).toBe(0);
    await beginHandshakes(broker, 64, "close");
    expect(openFiles(broker)).toBeGreaterThanOrEqual(64);

    const digest = await publish(worker, "still at work");
    const id = await admit(orchestrator, "w-1", digest, "Keep the names.");
    await worker.push(({ type }) => type === "correction");
    const next_action = { summary: "keep the names", reflects: [id] };
    const acked = await worker.ask({ type: "ack", correction_id: id, status_digest: digest, next_action });
    expect(acked).toMatchObject({ stage: "WITNESSED" });
    const log = readFileSync(join(broker.data, "log", "00000000.jsonl"), "utf8");
    expect(log.split("\n").filter((line) => line.includes(`"kind":"witnessed"`))).toHaveLength(1);
    expect(await attempt(broker, token)).toMatchObject({ open: false, welcomed: false });

    for (const socket of sockets) socket.destroy();
    let again = await attempt(broker, token);
    while (!again.welcomed) again = await attempt(broker, token);
    again.close();
    expect(await broker.stop()).toMatchObject({ code: 0, stderr: "" });
  });

  it("keeps files free for its log and its tokens however many clients come [A2C-LIM-08] [A2C-LIM-09]", async () => {
    const limited = ["--nofile=128:128", process.execPath, builtProgram(), "serve", "--data", directory.path];
    using program = new Program([...limited, "--port", "0", "-o", "json", "--log-level", "error"], {
      command: "prlimit",
    });
    const broker = await Serve.of(program, directory.path);
    const { token } = await pair(broker);
    await beginHandshakes(broker, 200, "connect");
    const clients = [await attempt(broker, token)];
    while (clients.at(-1)?.welcomed === true) clients.push(await attempt(broker, token));
    expect(clients.pop()).toMatchObject({ code: 4429 });
    expect(clients.length).toBeGreaterThan(30);
    expect(openFiles(broker)).toBeLessThan(128 - 16);
    const { id } = await broker.token({ role: "auditor", subject: "late" });
    expect(await broker.ask({ command: "token_list" })).toContainEqual(expect.objectContaining({ id }));
    for (const client of clients) client.close();
    expect(await broker.stop()).toMatchObject({ code: 0, stderr: "" });
  });
});
