/** A value that RFC 8785 and this protocol can both write: safe integers, well-formed strings, plain containers. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * RFC 8785 (JCS) text of a value of this protocol. Members that are `undefined` are left out.
 * Strings and integers are written as ECMAScript writes them, which is what RFC 8785 asks; keys are ASCII,
 * so that sorting by UTF-16 units and by bytes agree.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let out = "";
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) out += `${out === "" ? "" : ","}"${key}":${canonicalJson(member)}`;
  }
  return `{${out}}`;
}

function isArray(value: readonly Json[] | { readonly [key: string]: Json | undefined }): value is readonly Json[] {
  return Array.isArray(value);
}
