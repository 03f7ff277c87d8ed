import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Outgoing, Peer } from "../broker/index.js";
import type { Codec } from "../codec/codec.js";
import type { Close } from "../protocol/index.js";

/** Below this many unsent bytes a socket is asked for more. */
const LOW_WATER = 16_384;

/** A WebSocket as the broker's peer. What is sent in one turn leaves in one write. */
export class SocketPeer implements Peer {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #encode: Codec["encode"];
  readonly #binary: boolean;
  #corked = false;

  constructor(ws: WebSocket, socket: Duplex, codec: Codec) {
    this.#ws = ws;
    this.#socket = socket;
    this.#encode = codec.encode;
    this.#binary = codec.binary;
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
    // The callback takes the error of a socket that broke meanwhile; its close event tells the broker.
    this.#ws.send(out.as(this.#encode), { binary: this.#binary }, () => {});
  }

  async drained(): Promise<void> {
    while (this.#ws.readyState === this.#ws.OPEN && this.#ws.bufferedAmount > LOW_WATER) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#socket.off("drain", done);
          this.#socket.off("close", done);
          resolve();
        };
        this.#socket.on("drain", done);
        this.#socket.on("close", done);
      });
    }
  }

  close({ code, reason }: Close): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, reason);
  }

  #uncork(): void {
    this.#corked = false;
    this.#socket.uncork();
  }
}
