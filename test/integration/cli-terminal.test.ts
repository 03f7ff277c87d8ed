import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publish, statusOf } from "../support/scenes.js";
import { Serve, dataDirectory } from "../support/serve.js";
import { Terminal, hasTerminal } from "../support/terminal.js";
import { Wire } from "../support/wire.js";

const ESC = "\u001b";
const COLOUR = `${ESC}[32m`;

describe.skipIf(!hasTerminal)("on a terminal", () => {
  const directory = dataDirectory();
  const data = directory.path;
  let broker: Serve;
  let worker: Wire;

  beforeAll(async () => {
    broker = await Serve.start(data);
    const { token } = await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    worker = await Wire.hello(broker.url, token, { role: "worker", worker_id: "w-1" });
    await publish(worker, "ran the tests", {
      next_action: { summary: `rewrite ${"the tokenizer and ".repeat(9)}rest` },
    });
  });

  afterAll(async () => {
    await broker.kill();
    directory[Symbol.dispose]();
  });

  async function shown(args: string[], options: ConstructorParameters<typeof Terminal>[1] = {}): Promise<string> {
    using terminal = new Terminal([...args, "--data", data], options);
    expect(await terminal.ended()).toBe(0);
    return terminal.text;
  }

  const lines = (text: string): string[] => text.split("\r\n").slice(0, -1);

  it("cuts a table to the terminal's width", async () => {
    for (const cells of [80, 120]) {
      const table = lines(await shown(["workers", "--no-color"], { cells }));
      expect(table).toHaveLength(2);
      expect(table[1]).toMatch(/^w-1 +live +2162 +src\/parser .*…$/);
      expect(table[1]).toHaveLength(cells);
    }
  });

  it("colours, unless it is told not to or the terminal cannot", async () => {
    expect(await shown(["workers"])).toContain(`${COLOUR}live`);
    expect(await shown(["workers", "--no-color"])).not.toContain(ESC);
    expect(await shown(["workers"], { env: { NO_COLOR: "1" } })).not.toContain(ESC);
    expect(await shown(["workers"], { env: { TERM: "dumb" } })).not.toContain(ESC);
  });

  it("shows the row and asks before it sends; what is not agreed to is not sent", async () => {
    using no = new Terminal(["correct", "w-1", "Keep the tokenizer.", "--data", data, "--no-color"]);
    await no.until("[y/N] ");
    expect(no.text).toMatch(/^last action +ran the tests\r$/m);
    expect(no.text).toMatch(/^message +Keep the tokenizer\.\r$/m);
    no.type("\n");
    expect(await no.ended()).toBe(1);
    expect(no.text).toContain("nothing was sent");
    using yes = new Terminal(["correct", "w-1", "Keep the tokenizer.", "--data", data, "--no-color"]);
    await yes.until("[y/N] ");
    yes.type("y\n");
    expect(await yes.ended()).toBe(0);
    expect(yes.text).toMatch(/corr_[0-9a-f]{32} admitted, log entry \d+/);
  });

  it("asks nobody about what would be refused whatever the answer", async () => {
    for (const [message, sentence] of [
      ["x".repeat(1_025), "the message is 1025 bytes of at most 1024; shorten it"],
      ["a\u200bb", "(U+200B) at UTF-16 index 1"],
      [" ", "write at least one visible character"],
    ] as const) {
      using terminal = new Terminal(["correct", "w-1", message, "--data", data, "--no-color"]);
      expect(await terminal.ended()).toBe(3);
      expect(terminal.text).toContain(sentence);
      expect(terminal.text).not.toContain("[y/N]");
    }
  });

  it("sends for the row that was shown, and tells what moved while it asked", async () => {
    using terminal = new Terminal(["correct", "w-1", "Keep it.", "--data", data, "--no-color"]);
    await terminal.until("[y/N] ");
    await worker.ask(statusOf("ran the linter"));
    terminal.type("y\n");
    expect(await terminal.ended()).toBe(3);
    expect(terminal.text).toContain("refused with UNWITNESSED/DIGEST");
    expect(terminal.text).toMatch(/^last_action +ran the tests +ran the linter\r$/m);
    expect(terminal.text).toContain("next: a2achan get w-1");
  });

  it("keeps the list up to date in place, and leaves the terminal as it was", async () => {
    await worker.ask(statusOf("first"));
    using terminal = new Terminal(["workers", "--watch", "--data", data, "--no-color"], { cells: 80, lines: 10 });
    await terminal.until("w-1");
    await worker.ask(statusOf("second", { next_action: { summary: "what comes second" } }));
    await terminal.until("what comes second");
    expect(terminal.text.startsWith(`${ESC}[?1049h${ESC}[?25l${ESC}[?7l`)).toBe(true);
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
    const [screen = "", left = ""] = terminal.text.split(`${ESC}[?7h${ESC}[?25h${ESC}[?1049l`);
    for (const drawn of screen.split(`${ESC}[H`).slice(1)) expect(drawn.split("\r\n").length).toBeLessThanOrEqual(10);
    expect(left).toMatch(/^WORKER .*\r\nw-1 .*what comes second\r\n$/);
  });
});
