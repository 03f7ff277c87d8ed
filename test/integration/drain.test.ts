import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Book } from "../crash/book.js";
import { inspect } from "../crash/inspect.js";
import { Load, provideCast } from "../crash/load.js";
import { randomFrom } from "../support/random.js";
import { Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { Wire } from "../support/wire.js";

let directory: ReturnType<typeof dataDirectory>;
let broker: Serve;

beforeEach(async () => {
  directory = dataDirectory();
  broker = await Serve.start(directory.path, "--log-level", "info");
});

afterEach(async () => {
  await broker.kill();
  directory[Symbol.dispose]();
});

/** A client that never reads again, not even the close. */
async function stuckClient(): Promise<Wire> {
  const client = await Wire.hello(broker.url, operatorToken(broker.data), { role: "orchestrator" });
  client.pause();
  return client;
}

describe("a broker that is told to stop with SIGTERM under load", () => {
  it("answers or closes with 4503 whatever was asked, keeps all that it answered, and ends with 0 [A2C-ANS-08] [A2C-ANS-02]", async () => {
    const book = new Book();
    const load = new Load(broker, await provideCast(broker, book), book, randomFrom(11));
    // Every request that is without an answer then belongs to a connection that was closed with the code below.
    await load.run(150, () => broker.program.signal("SIGTERM"));
    const { code, signal, stderr } = await broker.program.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(stderr).toContain(`"signal":"SIGTERM"`);
    expect(load.clients.size).toBeGreaterThan(10);
    expect([...load.clients].filter((client) => client.code !== 4503)).toEqual([]);

    broker = await Serve.start(directory.path);
    const { log, lost, faults } = await inspect(broker, book.claims, book.late);
    expect({ lost, faults }).toEqual({ lost: [], faults: [] });
    expect(log.count("broker_stopped")).toBe(1);
  }, 120_000);

  it("ends all the same when a client never reads its close", async () => {
    const client = await stuckClient();
    const { code } = await broker.stop();
    expect(code).toBe(0);
    client.drop();
  });

  it("is ready for it as soon as it says that it listens, and leaves nothing that would pass for a live one", async () => {
    const said = join(directory.path, "broker.json");
    expect(JSON.parse(readFileSync(said, "utf8"))).toMatchObject({ pid: broker.program.pid, url: broker.url });
    expect(await broker.stop()).toMatchObject({ code: 0, signal: null });
    expect(existsSync(said)).toBe(false);
    await expect(broker.ask({ command: "ping" })).rejects.toThrow("does not answer");
    const again = await Serve.start(directory.path);
    expect(await again.stop()).toMatchObject({ code: 0 });
  });
});

describe("a broker that is told twice", () => {
  // Two signals that count alike: the system would take two of one kind for one when they come together.
  it("ends at once, and not with 0", async () => {
    const client = await stuckClient();
    broker.program.signal("SIGTERM");
    broker.program.signal("SIGINT");
    expect(await broker.program.ended).toMatchObject({ code: 1, signal: null });
    client.drop();
  });

  it("ends at once at a second SIGTERM while it drains", async () => {
    const client = await stuckClient();
    broker.program.signal("SIGTERM");
    await broker.program.until(() => broker.program.stderr.includes(`"msg":"stopping"`));
    broker.program.signal("SIGTERM");
    expect(await broker.program.ended).toMatchObject({ code: 1, signal: null });
    client.drop();
  });
});
