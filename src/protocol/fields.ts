import { z } from "zod";
import { isCorrectionId, isId } from "./ids.js";
import { LIMITS } from "./limits.js";
import type { MalformedDetail } from "./reasons.js";
import { checkText, utf8Bytes } from "./text.js";

/** What a field's own check says of a bad value; `parse` turns it into a refusal. */
export type FieldFault = { detail: MalformedDetail } | { bytes: number; max_bytes: number };

function checked(schema: z.ZodString, fault: (value: string) => FieldFault | undefined): z.ZodString {
  return schema.check((ctx) => {
    const params = fault(ctx.value);
    if (params !== undefined) ctx.issues.push({ code: "custom", input: ctx.value, params });
  });
}

function textOf(maxBytes: number): z.ZodString {
  return checked(z.string(), (value) => {
    const bad = checkText(value);
    if (bad !== undefined) return { detail: bad.detail };
    const bytes = utf8Bytes(value);
    return bytes > maxBytes ? { bytes, max_bytes: maxBytes } : undefined;
  });
}

const ID: FieldFault = { detail: "ID" };

export const idField = checked(z.string(), (value) => (isId(value) ? undefined : ID)).meta({
  description:
    "An id: 1-128 characters of [!-~] without quote, backslash, angle brackets and backtick; no '..', no '//'.",
});
export const correctionIdField = checked(z.string(), (value) => (isCorrectionId(value) ? undefined : ID)).meta({
  description: "corr_ and 32 lower-case hex digits.",
});

/** Free text of text policy 1. `message` has no length here: OVERSIZE is judged after the grant (PROTOCOL.md section 3). */
export const messageField = textOf(Number.POSITIVE_INFINITY);
export const lastActionField = textOf(LIMITS.last_action_bytes);
export const summaryField = textOf(LIMITS.summary_bytes);
export const reasonField = textOf(LIMITS.reason_bytes);

/** A digest as cited: any short string, since a wrong one is a stale citation and no bad frame. */
export const citedDigestField = checked(z.string(), (value) =>
  utf8Bytes(value) > LIMITS.digest_bytes ? { detail: "SHAPE" } : undefined,
);
export const digestField = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const keyField = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/);
/** The request id that a reply repeats: 1-64 printable ASCII characters. */
export const requestIdField = z.string().regex(/^[ -~]{1,64}$/);
/** The broker's name for one connection. */
export const sessionField = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
export const cursorField = z.string().min(1).max(128);
export const tokenField = z.string().min(1).max(256);

export const count = z.int().min(0);
export const lifetimeInteger = z.int().min(1);
/** Milliseconds of log time. */
export const time = z.int().min(0);
