import type { Refusal, WorkerStatus } from "../protocol/index.js";
import type { Decision } from "./decision.js";
import type { Principal, Refused, RefusedRequest, Text } from "./events.js";
import { principalKey, type State } from "./state.js";

/**
 * A refusal is an event too, as long as the principal's bucket of single refusals has room: 100, one more each 20 s
 * (PROTOCOL.md section 9). Past it the answer says `folded` and the broker counts it.
 */
export function refuse(
  state: State,
  now: number,
  by: Principal,
  verb: string,
  refusal: Refusal,
  request: RefusedRequest & { seq?: number } = {},
  current?: WorkerStatus,
): Decision {
  const { refusal_burst, refusal_refill_ms, message_bytes } = state.limits;
  const { content, ...kept } = request;
  const fullAt = state.refusalFullAt.get(principalKey(by.role, by.subject)) ?? 0;
  const folded = fullAt - now > (refusal_burst - 1) * refusal_refill_ms;
  const event: Refused = { kind: "refused", at: now, by, verb, ...refusal, ...kept };
  if (content !== undefined) event.content = { ...content, message: short(content.message, message_bytes) };
  return {
    events: folded ? [] : [event],
    answer: {
      kind: "refused",
      refusal,
      folded,
      ...(kept.correction_id !== undefined && { correctionId: kept.correction_id }),
      ...(current !== undefined && { current }),
    },
  };
}

// A refused text that is too long is committed to but not kept; its entry tells by `bytes`.
function short(text: Text, most: number): Text {
  return text.bytes > most ? { bytes: text.bytes, commitment: text.commitment } : text;
}
