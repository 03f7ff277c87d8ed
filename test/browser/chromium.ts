import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where this machine has a Chromium; undefined where it has none. */
export const chromiumPath = PATHS.find((path) => existsSync(path));

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const PAGE = `<!doctype html>
<meta charset="utf-8">
<script src="/page.js"></script>
<script type="module">
  const config = await (await fetch("/config")).json();
  const result = await page.run(config).catch((error) => ({ error: String(error) }));
  await fetch("/result", { method: "POST", body: JSON.stringify(result) });
</script>
`;

/** Serves a page with the script `code`, which is given `config` and tells its result. */
export class PageServer {
  readonly origin: string;
  readonly result: Promise<unknown>;
  readonly #close: () => Promise<void>;
  config: unknown;

  private constructor(origin: string, result: Promise<unknown>, close: () => Promise<void>) {
    this.origin = origin;
    this.result = result;
    this.#close = close;
  }

  static async start(code: string): Promise<PageServer> {
    let told: (result: unknown) => void = () => {};
    const result = new Promise<unknown>((resolve) => (told = resolve));
    const server = createServer((request, response) => {
      const say = (type: string, body: string): void =>
        void response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
      if (request.url === "/") return say("text/html", PAGE);
      if (request.url === "/page.js") return say("text/javascript", code);
      if (request.url === "/config") return say("application/json", JSON.stringify(page.config));
      if (request.url !== "/result") return void response.writeHead(404).end();
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        say("text/plain", "");
        told(JSON.parse(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    };
    const page = new PageServer(`http://127.0.0.1:${port}`, result, close);
    return page;
  }

  stop(): Promise<void> {
    return this.#close();
  }
}

/** Shows a page in a fresh, headless Chromium until `seen` settles; rejects when the browser ends before. */
export async function showPage<T>(chromium: string, url: string, seen: Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), "a2achan-chromium-"));
  // A process group of its own: the browser is many processes, and all of them end with it.
  const child = spawn(chromium, [...FLAGS, `--user-data-dir=${profile}`, url], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: profile },
  });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", kill);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2_000)));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", reject);
    void ended.then(() => reject(new Error(`Chromium ended: ${said}`)));
  });
  try {
    return await Promise.race([seen, failed]);
  } finally {
    failed.catch(() => {});
    kill();
    await ended;
    process.removeListener("exit", kill);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
