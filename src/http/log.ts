import { Hono, type Context } from "hono";
import type { Broker } from "../broker/index.js";
import { parseTilePath } from "../tlog/index.js";

/** Tiles never change; whoever may read one may keep it. */
const FOR_EVER = "private, max-age=31536000, immutable";

/**
 * The log as C2SP tlog-tiles: `/checkpoint` and `/tile/...`, for bearers of a token that may audit, or for everybody if
 * the log is public. No text is in it (WITNESS-LOG.md).
 */
export function logApp(broker: Broker, isPublic: boolean): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (isPublic || mayRead(broker, c.req.header("authorization"))) return next();
    c.header("www-authenticate", "Bearer");
    return c.text("the log is for auditors; send Authorization: Bearer TOKEN\n", 401);
  });
  app.get("/checkpoint", (c) => {
    c.header("cache-control", "no-store");
    return c.text(broker.notary.checkpoint());
  });
  app.get("/tile/*", async (c) => (await tile(broker, c)) ?? c.text("the log has no such tile\n", 404));
  return app;
}

async function tile(broker: Broker, c: Context): Promise<Response | undefined> {
  const { pathname } = new URL(c.req.url);
  const wanted = parseTilePath(pathname.slice(pathname.indexOf("/tile/") + 1));
  const bytes = wanted === undefined ? undefined : await broker.notary.tile(wanted);
  if (bytes === undefined) return undefined;
  return c.body(new Uint8Array(bytes), 200, { "content-type": "application/octet-stream", "cache-control": FOR_EVER });
}

function mayRead(broker: Broker, header: string | undefined): boolean {
  const token = /^Bearer ([!-~]+)$/.exec(header ?? "")?.[1];
  return token !== undefined && broker.mayAudit(token);
}
