import { createContext, runInContext } from "node:vm";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { PlatformSocket } from "../support/platform-socket.js";
import { bundlePage } from "./bundle.js";
import { PageServer, chromiumPath, showPage } from "./chromium.js";
import type { PageConfig, PageResult } from "./page.js";

if (chromiumPath === undefined) console.warn("no Chromium is installed: the client is not tried in a browser");

const WITNESSED: PageResult = {
  verdict: "ALLOW",
  stages: ["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"],
  end: "WITNESSED",
  digestAgrees: true,
  rendered: true,
  strangeToken: "unauthenticated",
  hasProcess: false,
};

let bundle: Awaited<ReturnType<typeof bundlePage>>;
let page: PageServer;
let broker: TestBroker;

beforeAll(async () => {
  bundle = await bundlePage();
});

beforeEach(async () => {
  page = await PageServer.start(bundle.code);
  broker = await TestBroker.start({ allowedOrigins: [page.origin] });
});

afterEach(async () => {
  await page.stop();
  await broker.stop();
});

async function config(): Promise<PageConfig> {
  const worker = await broker.running.addToken({ role: "worker", subject: "w-page", issue: "**", lane: "**" });
  const everywhere = { worker: "**", issue: "**", lane: "**" };
  const lead = await broker.running.addToken({ role: "orchestrator", subject: "lead", ...everywhere });
  return { url: broker.url, workerToken: worker.token, orchestratorToken: lead.token };
}

describe("a2achan/client, bundled for a browser", () => {
  it("is one script that imports nothing and names nothing of Node", () => {
    expect(bundle.imports).toEqual([]);
    expect(bundle.code.match(/node:[a-z]+|\bBuffer\b|\brequire\b|\bprocess\.\w+/g)).toBeNull();
    const own = bundle.modules.filter((path) => path.includes("/dist/")).map((path) => path.replace(/^.*\/dist\//, ""));
    expect(own).toContain("client/socket-browser.js");
    expect(own).toContain("protocol/hash-browser.js");
    expect(own).not.toContain("client/socket.js");
    expect(own).not.toContain("protocol/hash.js");
    expect(bundle.modules.filter((path) => /node_modules\/(ws|msgpackr)\//.test(path))).toEqual([]);
  });

  it("gets a correction witnessed where there are web globals alone, its tokens in hello [A2C-AUTH-01]", async () => {
    const globals = {
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      WebSocket: PlatformSocket,
      clearTimeout,
      crypto,
      performance,
      queueMicrotask,
      setTimeout,
    };
    const context = createContext({ ...globals, config: await config() });
    runInContext(bundle.code, context);
    const result = runInContext("page.run(config)", context) as Promise<PageResult>;
    expect(structuredClone(await result)).toEqual(WITNESSED);
  });

  it.skipIf(chromiumPath === undefined)(
    "gets a correction witnessed in Chromium, its tokens in hello",
    async () => {
      page.config = await config();
      expect(await showPage(chromiumPath ?? "", `${page.origin}/`, page.result)).toEqual(WITNESSED);
    },
    120_000,
  );
});
