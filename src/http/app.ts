import { Hono } from "hono";
import type { Broker } from "../broker/index.js";

/** The HTTP side of the broker's port. No path of it says anything about rows, corrections or the log. */
export function httpApp(broker: Broker): Hono {
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (broker.running ? c.json({ status: "ready" }) : c.json({ status: "stopping" }, 503)));
  app.get("/v1", (c) => {
    c.header("upgrade", "websocket");
    return c.text("this is the WebSocket of a broker; connect with a client of a2achan\n", 426);
  });
  app.notFound((c) => c.text("not found; the WebSocket is at /v1\n", 404));
  return app;
}
