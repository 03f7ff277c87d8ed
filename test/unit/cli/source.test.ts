import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { brokerSource } from "../../../src/cli/audit/source.js";

afterEach(() => vi.restoreAllMocks());

it("waits 10 s for the checkpoint of what takes a connection and never answers, and then does without", async () => {
  const held: Socket[] = [];
  const silent = createServer((socket) => held.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(late.signal);
  silent.once("connection", (socket: Socket) => socket.once("data", () => late.abort()));
  try {
    const url = `ws://127.0.0.1:${port}/v1`;
    const source = await brokerSource({ url, token: "a2t_x", tokenFrom: "a test" });
    expect(source.yardsticks.checkpoints).toEqual([]);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(10_000);
  } finally {
    held.forEach((socket) => socket.destroy());
    silent.close();
  }
});
