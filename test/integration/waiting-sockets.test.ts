import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";

let broker: TestBroker | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await broker?.stop();
});

/** A connection that begins a handshake and never ends it. */
async function halfSent(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write("GET /v1 HTTP/1.1\r\nHost: ");
}

it("lets a client in past 600 handshakes that were begun and never sent to their end [A2C-LIM-08]", async () => {
  broker = await TestBroker.start({ limits: { connections: 4 } });
  const port = Number(new URL(broker.url).port);
  for (let at = 0; at < 600; at += 1) await halfSent(port);
  const client = await broker.orchestrator("lead");
  expect(await client.ask({ type: "ping" })).toMatchObject({ type: "pong" });
});
