import { FINAL_CLOSE_CODES } from "../protocol/index.js";
import { A2achanError, type ErrorCode } from "./errors.js";

/** How a socket ended. `final`: trying again cannot help. */
export interface SocketEnd {
  error: A2achanError;
  final: boolean;
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  4400: "bad_frame",
  4401: "unauthenticated",
  4403: "role_not_granted",
  4409: "fenced",
};

/** What a close code means (PROTOCOL.md section 6). */
export function closedWith(code: number, reason: string): SocketEnd {
  const known = CODES[code];
  const final = FINAL_CLOSE_CODES.includes(code);
  if (known !== undefined) return { error: new A2achanError(known), final };
  const said = reason === "" ? "" : ` (${reason})`;
  const sentence = `The connection was closed with code ${code}${said}; the client connects again by itself.`;
  return { error: new A2achanError("connection_lost", { sentence }), final };
}

/** What is wrong with a token before it is sent: one read from a file often still has its line end. */
export function tokenFault(token: string): A2achanError | undefined {
  if (/^[!-~]+$/.test(token)) return undefined;
  const sentence = "The token is not one word of printable ASCII; check for blanks and line ends.";
  return new A2achanError("unauthenticated", { sentence });
}

/** What a platform's refusal to construct a WebSocket means. */
export function urlFault(cause: unknown): A2achanError {
  const sentence = "The URL is not one of a WebSocket; use ws://HOST:PORT/v1.";
  return new A2achanError("unreachable", { sentence, cause });
}
