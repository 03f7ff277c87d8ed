import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Outgoing, Peer } from "../broker/index.js";
import type { Codec } from "../codec/codec.js";
import type { Close } from "../protocol/index.js";

/** At so many unsent bytes or fewer a socket is asked for more. */
const LOW_WATER = 16_384;

/** A WebSocket as the broker's peer. What is sent in one turn leaves in one write. */
export class SocketPeer implements Peer {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #encode: Codec["encode"];
  readonly #binary: boolean;
  #corked = false;
  #waiting: (() => void)[] = [];

  constructor(ws: WebSocket, socket: Duplex, codec: Codec) {
    this.#ws = ws;
    this.#socket = socket;
    this.#encode = codec.encode;
    this.#binary = codec.binary;
    ws.on("close", () => this.#wake());
  }

  get buffered(): number {
    return this.#ws.bufferedAmount;
  }

  send(out: Outgoing): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => this.#uncork());
    }
    // Called when the bytes have left, or with the error of a socket that broke: its close event tells the broker.
    this.#ws.send(out.as(this.#encode), { binary: this.#binary }, () => {
      if (this.buffered <= LOW_WATER) this.#wake();
    });
  }

  // Waits for the socket, never for a turn: a caller that asks again until there is room must not starve it.
  drained(): Promise<void> {
    if (this.buffered === 0 || this.#ws.readyState === this.#ws.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close({ code, reason }: Close): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, reason);
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #uncork(): void {
    this.#corked = false;
    this.#socket.uncork();
  }
}
