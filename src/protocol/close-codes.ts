/** WebSocket close codes with their fixed reason strings of at most 40 bytes (PROTOCOL.md section 6). */
export const CLOSE = {
  DONE: { code: 1000, reason: "done" },
  BAD_FRAME: { code: 4400, reason: "bad frame" },
  UNAUTHENTICATED: { code: 4401, reason: "unauthenticated or revoked" },
  ROLE_NOT_GRANTED: { code: 4403, reason: "role not granted" },
  HELLO_TIMEOUT: { code: 4408, reason: "hello timeout" },
  FENCED: { code: 4409, reason: "fenced by a newer session" },
  TOO_MANY: { code: 4429, reason: "too many connections or frames" },
  SLOW_CONSUMER: { code: 4430, reason: "slow consumer" },
  FAULT: { code: 4500, reason: "broker stopped on a fault" },
  DRAINING: { code: 4503, reason: "draining" },
} as const;

export type CloseName = keyof typeof CLOSE;
export type Close = (typeof CLOSE)[CloseName];

/** Codes after which a client must not reconnect by itself. */
export const FINAL_CLOSE_CODES: readonly number[] = [4400, 4401, 4403, 4409];
