import { Hono } from "hono";
import type { Broker } from "../broker/index.js";
import { logApp } from "./log.js";

export interface HttpOptions {
  /** Whether `/log` is open to everybody. */
  publicLog: boolean;
}

/** The HTTP side of the broker's port: its health, and its log as tiles. */
export function httpApp(broker: Broker, { publicLog }: HttpOptions): Hono {
  const app = new Hono();
  app.route("/log", logApp(broker, publicLog));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (broker.running ? c.json({ status: "ready" }) : c.json({ status: "stopping" }, 503)));
  app.get("/v1", (c) => {
    c.header("upgrade", "websocket");
    return c.text("this is the WebSocket of a broker; connect with a client of a2achan\n", 426);
  });
  app.notFound((c) => c.text("not found; the WebSocket is at /v1\n", 404));
  return app;
}
