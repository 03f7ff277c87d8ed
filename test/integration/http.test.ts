import { connect } from "node:net";
import { request, type IncomingHttpHeaders } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore, createBroker } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { FakeClock } from "../support/fake-clock.js";
import { turn } from "../support/local.js";
import { FailingStore, HeldStore } from "../support/stores.js";

let broker: TestBroker;
let store: HeldStore;

beforeEach(async () => {
  store = new HeldStore();
  broker = await TestBroker.start({
    store,
    allowedHosts: ["broker.internal"],
    allowedOrigins: ["https://console", "null"],
  });
});
afterEach(() => broker.stop());

interface Answer {
  status: number | undefined;
  body: string;
}

/** One request with exactly these headers, a Host included or not. */
function ask(path: string, headers: IncomingHttpHeaders | readonly string[] = {}, method = "GET"): Promise<Answer> {
  const { hostname, port } = new URL(broker.running.http);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false, setHost: !Array.isArray(headers) });
    sent.on("response", (response) => {
      let body = "";
      response.on("data", (chunk) => (body += String(chunk)));
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Bytes as they are; resolves with all that came back. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(broker.running.http);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => (answer += String(chunk)));
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
  "sec-websocket-protocol": "a2achan.v1.json",
};

describe("health", () => {
  it("says ok and ready, and nothing else", async () => {
    expect(await ask("/healthz")).toEqual({ status: 200, body: `{"status":"ok"}` });
    expect(await ask("/readyz")).toEqual({ status: 200, body: `{"status":"ready"}` });
  });

  it("is not ready any more while the broker stops, and newcomers are told 4503 [A2C-ANS-08]", async () => {
    store.hold();
    const stopped = broker.running.stop();
    await store.arrived();
    expect(await ask("/readyz")).toEqual({ status: 503, body: `{"status":"stopping"}` });
    expect(await ask("/healthz")).toMatchObject({ status: 200 });
    const late = await broker.open();
    expect(await late.closed).toEqual({ code: 4503, reason: "draining" });
    store.release();
    await stopped;
    await expect(ask("/healthz")).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a path", () => {
  it("that is not served is 404 with a plain sentence", async () => {
    for (const path of ["/", "/v1/", "/healthz/", "/logs", "/healthz%00"]) {
      expect(await ask(path)).toEqual({ status: 404, body: "not found; the WebSocket is at /v1\n" });
    }
    expect(await ask("/healthz", {}, "POST")).toMatchObject({ status: 404 });
  });

  it("that is the WebSocket's says so to whoever does not upgrade, with 426", async () => {
    const body = "this is the WebSocket of a broker; connect with a client of a2achan\n";
    expect(await ask("/v1")).toEqual({ status: 426, body });
  });

  it("takes no upgrade but at /v1, by GET", async () => {
    expect(await ask("/", UPGRADE)).toMatchObject({ status: 404 });
    expect(await ask("/v1?token=x", UPGRADE)).toMatchObject({ status: 404 });
    expect(await ask("/v1", UPGRADE, "POST")).toMatchObject({ status: 405 });
    expect(await ask("/v1", { ...UPGRADE, "content-length": "0" })).toMatchObject({ status: 400 });
  });
});

describe("a Host", () => {
  const refused = { status: 403, body: "this broker does not answer to that Host; see --allow-host\n" };

  it.each(["127.0.0.1:1", "LOCALHOST", "[::1]:7411", "broker.internal"])(
    "of the allow list is served: %s",
    async (host) => {
      expect(await ask("/healthz", { host })).toMatchObject({ status: 200 });
    },
  );

  it.each(["evil.example", "localhost.evil.example", "localhost:80:80", "127.0.0.1.", "localhost x"])(
    "outside of it is refused, on plain HTTP and before the 101: %s [A2C-FRM-04]",
    async (host) => {
      expect(await ask("/healthz", { host })).toEqual(refused);
      expect(await ask("/v1", { ...UPGRADE, host })).toEqual(refused);
    },
  );

  it("must be there exactly once [A2C-FRM-04]", async () => {
    const pairs = Object.entries(UPGRADE).flat();
    const none = `GET /v1 HTTP/1.1\r\n${Object.entries(UPGRADE)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`;
    expect(await raw(none)).toMatch(/^HTTP\/1\.1 400 /);
    const twice = ["host", "localhost", "host", "localhost"];
    expect(await ask("/v1", [...twice, ...pairs])).toEqual({ status: 400, body: "send exactly one Host header\n" });
    expect(await ask("/healthz", twice)).toMatchObject({ status: 400 });
    expect(await raw("GET /healthz HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw("GET /healthz HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
    expect(await raw("GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("an Origin", () => {
  it("outside of the allow list is refused before the 101, null always [A2C-FRM-05]", async () => {
    for (const origin of ["https://evil.example", "null", "https://console:443", ""]) {
      expect(await ask("/v1", { ...UPGRADE, origin })).toMatchObject({ status: 403 });
    }
    const wire = await broker.open(undefined, { origin: "https://console" });
    await wire.close();
  });
});

describe("a subprotocol", () => {
  it.each([undefined, "", "a2achan.v1", "a2achan.v2.json, chat", "A2ACHAN.V1.JSON"])(
    "that is not served is refused with a plain sentence: %s [A2C-FRM-02]",
    async (offered) => {
      const { "sec-websocket-protocol": _served, ...bare } = UPGRADE;
      const headers = offered === undefined ? bare : { ...bare, "sec-websocket-protocol": offered };
      expect(await ask("/v1", headers)).toEqual({
        status: 426,
        body: "offer the WebSocket subprotocol a2achan.v1.json or a2achan.v1.msgpack\n",
      });
    },
  );

  it.each([
    ["chat, a2achan.v1.msgpack, a2achan.v1.json", "a2achan.v1.msgpack"],
    ["a2achan.v1.json,a2achan.v1.msgpack", "a2achan.v1.json"],
    ["a2achan.v1.msgpack", "a2achan.v1.msgpack"],
  ])("that is served and stands first is selected: of %s, %s [A2C-FRM-01]", async (offered, first) => {
    const { hostname, port } = new URL(broker.running.http);
    const headers = { ...UPGRADE, "sec-websocket-protocol": offered };
    const sent = request({ hostname, port, path: "/v1", headers, agent: false });
    const selected = await new Promise((resolve) => {
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve(response.headers["sec-websocket-protocol"]);
      });
      sent.end();
    });
    expect(selected).toBe(first);
  });
});

describe("the limits of a request", () => {
  it("drop a header of more than 8 KiB, on plain HTTP and on an upgrade", async () => {
    const huge = `x: ${"x".repeat(9_000)}\r\n`;
    expect(await raw(`GET /healthz HTTP/1.1\r\nhost: localhost\r\n${huge}\r\n`)).not.toContain("200");
    expect(await raw(`GET /v1 HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n${huge}\r\n`)).not.toContain("101");
    expect(await ask("/healthz", { x: "x".repeat(7_000) })).toMatchObject({ status: 200 });
  });

  it("drop what is no HTTP", async () => {
    expect(await raw("\u0016\u0003\u0001 hello\r\n\r\n")).not.toContain("200");
    expect(await ask("/healthz")).toMatchObject({ status: 200 });
  });
});

describe("a broker that cannot start", () => {
  it("for its port is taken says so, and leaves neither a store nor a timer open", async () => {
    const [taken, clock] = [new FailingStore(), new FakeClock()];
    const port = Number(new URL(broker.running.http).port);
    await expect(createBroker({ port, store: taken, clock })).rejects.toThrow("EADDRINUSE");
    expect([taken.closed, clock.pending]).toEqual([true, 0]);
  });

  it("leaves the event loop free to end", async () => {
    const clock = new FakeClock();
    const other = await createBroker({ store: new MemoryStore(), clock });
    await other.stop();
    await other.stop();
    await turn();
    expect(clock.pending).toBe(0);
  });
});
