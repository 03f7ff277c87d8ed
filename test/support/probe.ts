import { WebSocket } from "ws";
import { codecOf, subprotocolOf, type CodecName } from "../conformance/codec.js";
import type { Haul } from "./haul.js";
import type { Frame } from "./wire.js";

/** Frames that a connection may send before the broker holds it back. */
const AT_ONCE = 50;

/** A client that hands over every byte that it is sent. */
export class Probe {
  readonly #ws: WebSocket;
  readonly #codec: ReturnType<typeof codecOf>;
  readonly #replies = new Map<string, (frame: Frame) => void>();
  #ids = 0;

  private constructor(ws: WebSocket, haul: Haul) {
    this.#ws = ws;
    this.#codec = codecOf(ws.protocol);
    ws.on("message", (data) => {
      haul.take(data as Buffer);
      const frame = this.#codec.read(data as Buffer) as Frame;
      const { id } = frame;
      if (typeof id === "string") this.#replies.get(id)?.(frame);
    });
    ws.on("error", () => {});
    ws.on("close", (_code, reason) => {
      haul.take(reason);
      for (const resolve of this.#replies.values()) resolve({ type: "closed" });
    });
  }

  static async open(url: string, codec: CodecName, haul: Haul, token?: string): Promise<Probe> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const ws = new WebSocket(url, subprotocolOf(codec), { headers });
    return new Promise((resolve, reject) => {
      ws.on("open", () => resolve(new Probe(ws, haul)));
      ws.once("error", reject);
    });
  }

  /** Its reply; `closed` when the broker would rather close. */
  ask(frame: Frame): Promise<Frame> {
    const id = `p${(this.#ids += 1)}`;
    if (this.#ws.readyState !== WebSocket.OPEN) return Promise.resolve({ type: "closed" });
    const reply = new Promise<Frame>((resolve) => this.#replies.set(id, resolve));
    this.#ws.send(this.#codec.write({ ...frame, id }), { binary: this.#codec.binary });
    return reply;
  }

  /** All of their replies; `pause` lets the broker's time pass between so many. */
  async askAll(frames: readonly Frame[], pause: () => void): Promise<Frame[]> {
    const replies: Frame[] = [];
    for (let at = 0; at < frames.length; at += AT_ONCE) {
      pause();
      replies.push(...(await Promise.all(frames.slice(at, at + AT_ONCE).map((frame) => this.ask(frame)))));
    }
    return replies;
  }

  drop(): void {
    this.#ws.terminate();
  }
}
