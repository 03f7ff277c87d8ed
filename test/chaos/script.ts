import type { Random } from "../support/random.js";

/** How a connection breaks. */
const BREAKS = [
  /** Both sides get a TCP reset. */
  "reset",
  /** Both sides get a FIN, in the middle of a frame too. */
  "end",
  /** What comes that way is lost from here on; some turns later both sides are reset. */
  "mute",
  /** Nothing passes any more, and nobody is told: the client has to find out. */
  "silence",
  /** The client is reset; what it had sent reaches the broker beside its next connection. */
  "ghost",
] as const;
export type Break = (typeof BREAKS)[number];

const QUICK = BREAKS.filter((kind) => kind !== "silence");

/** What happens to one connection. */
export interface Script {
  breaks: Break;
  /** The way whose bytes are counted: to the broker or from it. */
  way: "up" | "down";
  /** It breaks when so many bytes have passed that way. */
  after: number;
  /** Bytes that are passed on at once, at most: 1 splits everything to single bytes. */
  piece: number;
  /** Turns of the event loop that what comes in one read waits. */
  lag: number;
  /** Turns between losing bytes and the reset, or bytes of the next connection before a ghost speaks. */
  later: number;
  /** A second connection is made to the broker, which hears all that the client says. */
  twin: boolean;
}

/** The upgrade, `hello` and `welcome` of a client end before so many bytes of either way. */
const WELCOMED = 2_500;
const PIECES = [1, 7, 100, 65_536, 65_536];
const LAGS = [0, 0, 30, 300];

/**
 * Draws a script. The first connection of a client is whole up to its welcome: a first attempt that fails is final
 * for the SDK. A ghost holds back no `hello`: that would fence its own successor, which is final too.
 */
export function drawScript(random: Random, first: boolean, twins: boolean): Script {
  // The client's clock has to run for its silence to be noticed: it is drawn seldom.
  const breaks = random(16) === 0 ? "silence" : (QUICK[random(QUICK.length)] ?? "reset");
  const way = breaks === "ghost" || random(2) === 0 ? "up" : "down";
  const late = first || breaks === "ghost";
  return {
    breaks,
    way,
    after: (late ? WELCOMED : 1) + random(way === "up" ? 4_000 : 9_000),
    piece: (first ? undefined : PIECES[random(PIECES.length)]) ?? 65_536,
    lag: (first ? undefined : LAGS[random(LAGS.length)]) ?? 0,
    later: 1 + random(2_000),
    twin: twins && random(3) === 0,
  };
}
