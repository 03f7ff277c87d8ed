import type { Codec } from "../codec/codec.js";
import {
  PUSHES,
  REPLIES,
  utf8Bytes,
  type Push,
  type PushType,
  type Reply,
  type ReplyOf,
  type ReplyType,
  type RequestOf,
  type RequestType,
} from "../protocol/index.js";

/** A request as it goes over the wire. */
export type Written = ReturnType<Codec["encode"]>;

/** Bytes of a frame on the wire. */
export function bytesOf(frame: Written): number {
  return typeof frame === "string" ? utf8Bytes(frame) : frame.length;
}

/** The reply that each request of this SDK is answered with, if not refused (PROTOCOL.md section 6). */
export const ANSWERS = {
  status: "row",
  receive: "stage",
  ack: "stage",
  decline: "stage",
  inbox: "ok",
  bye: "ok",
  get: "row",
  list: "rows",
  watch: "rows",
  unwatch: "ok",
  correct: "receipt",
  withdraw: "stage",
  stage: "stage",
  log: "entries",
  follow: "entries",
  checkpoint: "proof",
  prove: "proof",
} as const satisfies Partial<Record<RequestType, ReplyType>>;

export type AskType = keyof typeof ANSWERS;
/** A request before it has its id. */
export type Ask<T extends AskType> = Omit<RequestOf<T>, "id">;
export type AnswerTo<T extends AskType> = ReplyOf<(typeof ANSWERS)[T]> | ReplyOf<"refusal">;

export type Incoming = { kind: "reply"; reply: Reply } | { kind: "push"; push: Push };

/** What the broker sent; undefined for what is no frame of this protocol. */
export function readFrame(codec: Codec, data: Uint8Array): Incoming | undefined {
  const decoded = codec.decode(data);
  if (!decoded.ok || decoded.fault !== undefined) return undefined;
  const { type } = decoded.value as { type?: unknown };
  if (typeof type !== "string") return undefined;
  if ("id" in decoded.value) {
    if (!isReplyType(type)) return undefined;
    const parsed = REPLIES[type].safeParse(decoded.value);
    return parsed.success ? { kind: "reply", reply: parsed.data } : undefined;
  }
  if (!isPushType(type)) return undefined;
  const parsed = PUSHES[type].safeParse(decoded.value);
  return parsed.success ? { kind: "push", push: parsed.data } : undefined;
}

/** A frame as it goes over the wire; undefined for one with a text that the codec has no form for. */
export function writeFrame(codec: Codec, frame: object): Written | undefined {
  try {
    return codec.encode(frame);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function isReplyType(type: string): type is ReplyType {
  return Object.hasOwn(REPLIES, type);
}

function isPushType(type: string): type is PushType {
  return Object.hasOwn(PUSHES, type);
}

/** A frame without what addresses it. */
export function bodyOf<T extends { type: string; id?: string }>(frame: T): Omit<T, "type" | "id"> {
  const { type: _type, id: _id, ...body } = frame;
  return body;
}
