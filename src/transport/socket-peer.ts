import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Outgoing, Peer } from "../broker/index.js";
import type { Close } from "../protocol/index.js";
import type { Framed, Framer } from "./framer.js";

/** At so many unsent bytes or fewer a socket is asked for more. */
const LOW_WATER = 16_384;

/** The peers of one server, each written to once at the end of a turn in which it was sent something. */
export class Turn {
  #peers: SocketPeer[] = [];

  /** Has a peer flushed when this turn ends. */
  ends(peer: SocketPeer): void {
    if (this.#peers.length === 0) process.nextTick(() => this.#flush());
    this.#peers.push(peer);
  }

  // Who asked was answered first and comes last here: a delivery or a stage is news to the others, and each write takes time.
  #flush(): void {
    const peers = this.#peers;
    this.#peers = [];
    for (const peer of peers.reverse()) peer.flush();
  }
}

/** A WebSocket as the broker's peer. What is sent in one turn leaves in one write. */
export class SocketPeer implements Peer {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #frame: Framer;
  readonly #turn: Turn;
  /** Sent in this turn: in one string, as long as all are strings, and else one behind the other; and their bytes. */
  #text = "";
  #frames: Framed[] | undefined;
  #size = 0;
  #waiting: (() => void)[] = [];

  constructor(ws: WebSocket, socket: Duplex, frame: Framer, turn: Turn) {
    this.#ws = ws;
    this.#turn = turn;
    this.#socket = socket;
    this.#frame = frame;
  }

  get buffered(): number {
    return this.#ws.bufferedAmount + this.#size;
  }

  send(out: Outgoing): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    const frame = out.as(this.#frame);
    if (this.#size === 0) this.#turn.ends(this);
    this.#size += frame.length;
    if (this.#frames !== undefined) this.#frames.push(frame);
    else if (typeof frame === "string") this.#text += frame;
    else this.#frames = this.#text === "" ? [frame] : [this.#text, frame];
  }

  // Waits for the socket, never for a turn: a caller that asks again until there is room must not starve it.
  drained(): Promise<void> {
    if (this.buffered === 0 || this.#ws.readyState === this.#ws.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close({ code, reason }: Close): void {
    this.flush();
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, reason);
  }

  /** Writes what was sent in this turn. */
  flush(): void {
    const [text, frames, size] = [this.#text, this.#frames, this.#size];
    this.#text = "";
    this.#frames = undefined;
    this.#size = 0;
    if (size === 0 || this.#ws.readyState !== this.#ws.OPEN) return;
    // Called when the bytes have left, or with the error of a socket that broke: its close event tells the broker.
    const left = (): void => {
      if (this.buffered <= LOW_WATER) this.#wake();
    };
    // ws's own bytes, of pings and of the close, go the same way and keep their place.
    if (frames === undefined) return void this.#socket.write(text, "latin1", left);
    this.#socket.cork();
    for (const frame of frames) this.#socket.write(frame, "latin1", left);
    this.#socket.uncork();
  }

  /** The socket is closed: nobody waits for it any more. */
  gone(): void {
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
