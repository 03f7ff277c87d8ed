import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** A note's text and who signed it (C2SP signed-note). */
export interface OpenedNote {
  text: string;
  /** The given keys whose signatures hold, in their order in the note. */
  signers: readonly VerifierKey[];
}

/** Why a note is not taken: the form is broken, no given key signed it, or a given key's signature does not hold. */
export type NoteFault = "malformed" | "unsigned" | "bad_signature";

/** A key that notes are checked with: `NAME+ID+BASE64`, the ID in 8 digits of hex. */
export interface VerifierKey {
  readonly name: string;
  /** The first 4 bytes of SHA-256 over name, type and key, in lower-case hex. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A key that signs notes. */
export interface SignerKey extends VerifierKey {
  readonly secret: KeyObject;
}

/** Ed25519 over the text itself, the only kind that is made or checked here. */
const ED25519 = 0x01;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const MAX_NOTE_BYTES = 65_536;
const MAX_SIGNATURES = 100;
const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([^ ]+)$/u;
const KEY_NAME = /^[^\s+]+$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/u;

/** The bytes of standard base64 in its one form: padded, nothing left over, no stray bits. */
export function fromBase64(text: string): Buffer | undefined {
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** Key over an Ed25519 secret of 32 bytes. Throws RangeError for a name with blanks or plus signs, or another length. */
export function signerKey(name: string, seed: Uint8Array): SignerKey {
  if (seed.length !== KEY_BYTES) throw new RangeError(`an Ed25519 secret has ${KEY_BYTES} bytes, not ${seed.length}`);
  // PKCS #8 for Ed25519 (RFC 8410 section 7) is this prefix and the secret.
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { ...verifierKey(name, rawKey(createPublicKey(secret))), secret };
}

/** `NAME+ID+BASE64`: what whoever checks the notes is given. */
export function formatVerifierKey({ name, id, key }: VerifierKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), rawKey(key)]).toString("base64")}`;
}

/** Reads `NAME+ID+BASE64`; undefined unless it is an Ed25519 key whose ID is its own. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(text) ?? [];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  if (name === undefined || bytes === undefined || !KEY_NAME.test(name)) return undefined;
  if (bytes.length !== 1 + KEY_BYTES || bytes[0] !== ED25519) return undefined;
  const key = verifierKey(name, bytes.subarray(1));
  return key.id === id ? key : undefined;
}

/** Signs a text, which must end with a line end. The note ends with the signature's line. */
export function signNote(text: string, { name, id, secret }: SignerKey): string {
  if (!text.endsWith("\n") || CONTROL.test(text)) throw new RangeError("a note's text is lines without control codes");
  const signature = Buffer.concat([Buffer.from(id, "hex"), sign(null, Buffer.from(text), secret)]);
  return `${text}\n\u2014 ${name} ${signature.toString("base64")}\n`;
}

/**
 * Checks a note against the keys one knows. Signatures of other keys are passed over; one by a known key that does not
 * hold rejects the note, whatever else is there (C2SP signed-note, Signatures). Total.
 */
export function openNote(note: string, keys: readonly VerifierKey[]): OpenedNote | NoteFault {
  const parts = takeApart(note);
  if (parts === undefined) return "malformed";
  const signers: VerifierKey[] = [];
  const signed = Buffer.from(parts.text);
  for (const { name, id, signature } of parts.signatures) {
    const known = keys.find((key) => key.name === name && key.id === id);
    if (known === undefined || signers.includes(known)) continue;
    if (!verify(null, signed, known.key, signature)) return "bad_signature";
    signers.push(known);
  }
  return signers.length === 0 ? "unsigned" : { text: parts.text, signers };
}

interface Signature {
  name: string;
  id: string;
  signature: Uint8Array;
}

/** The text with its last line end, and the signatures below the last empty line. */
function takeApart(note: string): { text: string; signatures: Signature[] } | undefined {
  if (Buffer.byteLength(note) > MAX_NOTE_BYTES || !note.isWellFormed() || CONTROL.test(note)) return undefined;
  const split = note.lastIndexOf("\n\n");
  if (split === -1 || !note.endsWith("\n")) return undefined;
  const lines = note.slice(split + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) return undefined;
  const signatures = lines.map(signatureOf);
  return signatures.every((signature) => signature !== undefined)
    ? { text: note.slice(0, split + 1), signatures }
    : undefined;
}

function signatureOf(line: string): Signature | undefined {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  if (name === undefined || bytes === undefined || !KEY_NAME.test(name) || bytes.length <= ID_BYTES) return undefined;
  return { name, id: bytes.toString("hex", 0, ID_BYTES), signature: bytes.subarray(ID_BYTES) };
}

function verifierKey(name: string, raw: Uint8Array): VerifierKey {
  if (!KEY_NAME.test(name)) throw new RangeError("a key's name is not empty and has no blanks or plus signs");
  const id = createHash("sha256").update(`${name}\n`).update(Buffer.of(ED25519)).update(raw).digest("hex").slice(0, 8);
  const x = Buffer.from(raw).toString("base64url");
  return { name, id, key: createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }) };
}

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
}
