import type { Close, Push, Reply } from "../protocol/index.js";

/** One frame on its way out, encoded at most once a codec however many sessions get it. */
export class Outgoing {
  readonly frame: Reply | Push;
  #encode: unknown;
  #encoded: unknown;
  /** By a second codec, and further ones. */
  #others: Map<unknown, unknown> | undefined;

  constructor(frame: Reply | Push) {
    this.frame = frame;
  }

  /** The frame as `encode` writes it; the same function gets the same result without writing again. */
  as<T>(encode: (frame: Reply | Push) => T): T {
    if (this.#encode === encode) return this.#encoded as T;
    if (this.#encode === undefined) {
      this.#encode = encode;
      this.#encoded = encode(this.frame);
      return this.#encoded as T;
    }
    this.#others ??= new Map();
    if (!this.#others.has(encode)) this.#others.set(encode, encode(this.frame));
    return this.#others.get(encode) as T;
  }
}

/** The other end of a session, as the broker sees it. No method throws; after the peer is gone they do nothing. */
export interface Peer {
  send(out: Outgoing): void;
  /** Bytes that were sent and that the socket has not taken yet. */
  readonly buffered: number;
  /** Resolves when `buffered` is low again, or the peer is gone. */
  drained(): Promise<void>;
  close(close: Close): void;
}

/** Closes a peer whatever it does: it is gone either way. */
export function closePeer(peer: Peer, close: Close): void {
  try {
    peer.close(close);
  } catch {
    // Breaking its word costs a peer nothing more than its connection.
  }
}
