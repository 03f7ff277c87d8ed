import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { SocketEnd } from "../../../src/client/ends.js";
import type { Socket } from "../../../src/client/socket.js";
import { openSocket } from "../../../src/client/socket-browser.js";
import { PlatformSocket } from "../../support/platform-socket.js";
import { ScriptedBroker, type Script } from "../../support/scripted-broker.js";

const TOKEN = "a2t_abcdefgh_secret";

let broker: ScriptedBroker;

beforeEach(async () => {
  // The one thing that the browser's socket takes from its platform; Node 20 has none.
  vi.stubGlobal("WebSocket", PlatformSocket);
  broker = await ScriptedBroker.start();
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await broker.stop();
});

interface Opened {
  socket: Socket;
  shown: Promise<unknown>;
  messages: [text: string, isBinary: boolean][];
  closed: Promise<SocketEnd>;
  ends: SocketEnd[];
}

function open(url = broker.url, token = TOKEN): Opened {
  const messages: Opened["messages"] = [];
  const ends: SocketEnd[] = [];
  let onOpen: (shown: unknown) => void = () => {};
  let onClosed: (why: SocketEnd) => void = () => {};
  const shown = new Promise((resolve) => (onOpen = resolve));
  const closed = new Promise<SocketEnd>((resolve) => (onClosed = resolve));
  const socket = openSocket(url, "a2achan.v1.json", token, {
    open: (said) => onOpen(said),
    message: (data, isBinary) => messages.push([new TextDecoder().decode(data), isBinary]),
    ping: () => {},
    closed: (why) => {
      ends.push(why);
      onClosed(why);
    },
  });
  return { socket, shown, messages, closed, ends };
}

async function opened(): Promise<Opened & { script: Script }> {
  const it = open();
  const script = await broker.accept();
  await it.shown;
  return { ...it, script };
}

describe("the socket of a browser", () => {
  it("leaves the token to hello and shows it nowhere else", async () => {
    const { shown, script } = await opened();
    expect(await shown).toEqual({ token: TOKEN });
    expect(script.authorization).toBeUndefined();
  });

  it("sends text, and tells text from binary messages", async () => {
    const { socket, messages, script } = await opened();
    socket.send(`{"type":"x","text":"\u00e9"}`);
    expect(await script.next()).toEqual({ type: "x", text: "\u00e9" });
    script.raw("caf\u00e9 \u{1F680}");
    script.raw(Buffer.from("two"), true);
    await script.ping();
    expect(messages).toEqual([
      ["caf\u00e9 \u{1F680}", false],
      ["two", true],
    ]);
  });

  it.each([
    [1000, "connection_lost", false],
    [4400, "bad_frame", true],
    [4401, "unauthenticated", true],
    [4403, "role_not_granted", true],
    [4409, "fenced", true],
    [4429, "connection_lost", false],
    [4503, "connection_lost", false],
  ])("tells close %i as %s, final: %s [A2C-FRM-37] [A2C-FRM-38]", async (code, expected, final) => {
    const { closed, script } = await opened();
    script.close(code);
    expect(await closed).toMatchObject({ error: { code: expected }, final });
  });

  it("says goodbye when it is closed", async () => {
    const { socket, closed, script } = await opened();
    socket.close();
    expect(await script.closed).toBe(1000);
    expect(await closed).toMatchObject({ error: { code: "connection_lost" } });
  });

  it("is over at once when it is cut, whatever the other side says, and told so once", async () => {
    const { socket, closed, ends, messages, script } = await opened();
    socket.cut();
    expect(ends).toEqual([]);
    await closed;
    script.raw("late");
    script.close(4401);
    await script.closed;
    socket.send("unheard");
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatchObject({ error: { code: "connection_lost" }, final: false });
    expect(messages).toEqual([]);
  });

  it("is unreachable when the upgrade is refused, and says what to check", async () => {
    await broker.stop();
    broker = await ScriptedBroker.start(403);
    expect(await open().closed).toMatchObject({
      error: {
        code: "unreachable",
        message: "The WebSocket could not be opened; check the URL (it ends in /v1) and the broker's --allow-origin.",
      },
      final: false,
    });
  });

  it("refuses a token with a line end and a URL that is none, not in the turn of the call", async () => {
    const [badToken, badUrl] = [open(broker.url, `${TOKEN}\n`), open("nowhere")];
    expect([...badToken.ends, ...badUrl.ends]).toEqual([]);
    expect(await badToken.closed).toMatchObject({ error: { code: "unauthenticated" }, final: true });
    expect(await badUrl.closed).toMatchObject({ error: { code: "unreachable" }, final: true });
    for (const { socket } of [badToken, badUrl]) {
      socket.send("unheard");
      socket.close();
      socket.cut();
    }
  });
});
