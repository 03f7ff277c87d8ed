import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { Program } from "../support/program.js";
import { correctionOf } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";
import { Namespace, whyNoNamespace } from "./namespace.js";

const WORKER = fileURLToPath(new URL("./lone-worker.ts", import.meta.url));
const why = whyNoNamespace();
if (why !== undefined) console.warn(`half-open connections are not tried: ${why}`);

let broker: TestBroker | undefined;
afterEach(() => broker?.stop());

const liveness = (state: string) => (frame: Frame) => frame.type === "row" && frame["liveness"] === state;

describe.skipIf(why !== undefined)("a worker whose network is gone without a word", () => {
  it("is found within two pings, stays live for its lease and not longer, and is live again once it is back [A2C-FRM-40] [A2C-LIVE-04] [A2C-LIVE-05] [A2C-LIVE-07]", async () => {
    using network = new Namespace();
    broker = await TestBroker.start({ host: network.address, allowedHosts: [network.address] });
    const watcher = await broker.orchestrator("orch");
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const { command, args } = network.inside(process.execPath, "--import", "tsx", WORKER);
    using worker = new Program(args, { command, env: { ...process.env, A2C_URL: broker.url, A2C_TOKEN: token } });
    expect(await worker.line()).toBe("live");
    await watcher.ask({ type: "watch" });
    const get = (): Promise<Frame> => watcher.ask({ type: "get", worker_id: "w-1" });
    const { status_digest: digest, ...before } = await get();
    expect(before).toMatchObject({ liveness: "live", row: { seq: 1 }, lease_ms: 90_000 });

    network.unplug();
    // The first ping falls somewhere into the first interval; when the third is due, two were missed.
    await broker.advance(29_999, watcher);
    expect(await get()).toMatchObject({ liveness: "live", inbox: "open" });
    await broker.advance(15_001, watcher);
    expect(await watcher.push(liveness("suspect"))).toMatchObject({ row: { live: true, seq: 1 }, inbox: "closed" });
    const receipt = await watcher.ask(correctionOf("w-1", digest, "Keep the names."));
    expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: false });
    await broker.advance(44_999, watcher);
    expect(await get()).toMatchObject({ liveness: "suspect", row: { live: true } });
    await broker.advance(1, watcher);
    expect(await watcher.push(liveness("dead"))).toMatchObject({ row: { live: false, seq: 2 }, pending: 1 });

    network.plug();
    expect(await watcher.push(liveness("live"))).toMatchObject({ row: { live: true, seq: 3 } });
    const witnessed = await watcher.push((frame) => frame.type === "stage" && frame["stage"] === "WITNESSED");
    expect(witnessed).toMatchObject({ correction_id: receipt["correction_id"] });
  });
});
