/** A breach that leaves the connection open: the request is refused as MALFORMED with this detail (PROTOCOL.md section 6). */
export interface Fault {
  /** SHAPE: a number that is no safe integer, or is -0. TEXT_ENCODING: a string with a lone surrogate, which JSON alone can write. */
  detail: "SHAPE" | "TEXT_ENCODING";
  /** From the top-level object to the first offending value in document order: 1 to 8 steps, keys and array indexes. */
  path: readonly (string | number)[];
}

/** What a decoder makes of one message. */
export type Decoded =
  /** A fresh plain object, shared with nothing. With a `fault`, only its `type` and `id` are fit for use, to address the refusal. */
  | { ok: true; value: object; fault?: Fault }
  /** Cannot be trusted to be a request: close 4400 (PROTOCOL.md section 6). */
  | { ok: false };

/** One encoding of frames: one object per WebSocket message (PROTOCOL.md section 6). */
export interface Codec {
  /** The WebSocket subprotocol that selects this codec. */
  readonly subprotocol: string;
  /** Whether messages are binary WebSocket messages; text ones otherwise. */
  readonly binary: boolean;
  /**
   * Encodes a frame of this program's own making; not for values as a peer sent them. Throws RangeError on a text that
   * the encoding has no form for.
   */
  encode(this: void, frame: object): string | Uint8Array;
  /** Total: never throws, whatever the bytes; takes time linear in their number. */
  decode(data: Uint8Array): Decoded;
}
