import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Outgoing, Peer } from "../broker/index.js";
import type { Codec } from "../codec/codec.js";
import type { Close } from "../protocol/index.js";

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
  readonly #encode: Codec["encode"];
  readonly #binary: boolean;
  readonly #turn: Turn;
  /** Sent in this turn, and their characters or bytes. */
  #frames: (string | Uint8Array)[] = [];
  #size = 0;
  #waiting: (() => void)[] = [];

  constructor(ws: WebSocket, socket: Duplex, codec: Codec, turn: Turn) {
    this.#ws = ws;
    this.#turn = turn;
    this.#socket = socket;
    this.#encode = codec.encode;
    this.#binary = codec.binary;
    ws.on("close", () => this.#wake());
  }

  get buffered(): number {
    return this.#ws.bufferedAmount + this.#size;
  }

  send(out: Outgoing): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    const frame = out.as(this.#encode);
    if (this.#frames.length === 0) this.#turn.ends(this);
    this.#frames.push(frame);
    this.#size += frame.length;
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
    const frames = this.#frames;
    this.#frames = [];
    this.#size = 0;
    if (frames.length === 0 || this.#ws.readyState !== this.#ws.OPEN) return;
    // Called when the bytes have left, or with the error of a socket that broke: its close event tells the broker.
    const left = (): void => {
      if (this.buffered <= LOW_WATER) this.#wake();
    };
    const text = asciiFrames(frames);
    if (text !== undefined) return void this.#socket.write(text, "latin1", left);
    this.#socket.cork();
    for (const frame of frames) this.#ws.send(frame, { binary: this.#binary }, left);
    this.#socket.uncork();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Bytes that a frame's length has room for beside its first two bytes (RFC 6455 section 5.2). */
const SHORT = 126;
const LONG = 65_536;

/**
 * Text messages as the bytes of unmasked WebSocket frames, one character a byte: one string costs Node a third of what
 * a list of buffers does. Undefined where a message is not pure ASCII, or long: those are ws's own to write.
 */
function asciiFrames(messages: readonly (string | Uint8Array)[]): string | undefined {
  let text = "";
  for (const message of messages) {
    if (typeof message !== "string" || message.length >= LONG) return undefined;
    const bytes = Buffer.byteLength(message);
    if (bytes !== message.length) return undefined;
    text +=
      bytes < SHORT ? String.fromCharCode(0x81, bytes) : String.fromCharCode(0x81, SHORT, bytes >> 8, bytes & 255);
    text += message;
  }
  return text;
}
