import { Hono } from "hono";
import type { Broker } from "../broker/index.js";

/** The HTTP side of the broker's port. No path of it says anything about rows, corrections or the log. */
export function httpApp(broker: Broker): Hono {
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (broker.running ? c.json({ status: "ready" }) : c.json({ status: "stopping" }, 503)));
  app.notFound((c) => c.text("not found; the WebSocket is at /v1\n", 404));
  return app;
}
