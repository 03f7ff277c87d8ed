import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatVerifierKey, openNote, parseVerifierKey, signerKey, signNote } from "../../../src/tlog/note.js";

/** Key, text and note that golang.org/x/mod/sumdb/note shows in its documentation. */
const VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const SEED = Buffer.from("gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=", "base64");
const TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";
const NOTE = `${TEXT}\n\u2014 PeterNeumann ${SIGNATURE}\n`;

const key = parseVerifierKey(VKEY);
if (key === undefined) throw new Error("the verifier key cannot be read");
const OTHER = signerKey("other.example/log", Buffer.alloc(32, 7));

describe("a verifier key", () => {
  it("is read and written as NAME+ID+BASE64", () => {
    expect([key.name, key.id, formatVerifierKey(key)]).toEqual(["PeterNeumann", "c74f20a3", VKEY]);
    expect(formatVerifierKey(signerKey("PeterNeumann", SEED))).toBe(VKEY);
  });

  it.each([
    ["another ID", VKEY.replace("c74f20a3", "c74f20a4")],
    ["an ID in capitals", VKEY.replace("c74f20a3", "C74F20A3")],
    ["another name", `x${VKEY}`],
    ["a name with a blank", VKEY.replace("PeterNeumann", "Peter Neumann")],
    ["a key without a name", VKEY.slice("PeterNeumann".length)],
    ["another type", VKEY.replace("+AR", "+BR")],
    ["a byte too few", "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10Q="],
    ["stray bits in its base64", "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10R="],
    ["nothing", ""],
  ])("is refused with %s", (_, text) => {
    expect(parseVerifierKey(text)).toBeUndefined();
  });

  it("is not made with a name that a note cannot hold, nor from another length", () => {
    for (const name of ["", "a b", "a+b", "a\u00a0b"]) expect(() => signerKey(name, SEED)).toThrow(RangeError);
    expect(() => signerKey("a", SEED.subarray(1))).toThrow(RangeError);
  });
});

describe("a note", () => {
  it("is signed byte for byte as others sign it", () => {
    expect(signNote(TEXT, signerKey("PeterNeumann", SEED))).toBe(NOTE);
  });

  it("opens for a key that signed it, and says which", () => {
    expect(openNote(NOTE, [OTHER, key])).toEqual({ text: TEXT, signers: [key] });
  });

  it("names a key once, however often it signed", () => {
    expect(openNote(`${NOTE}\u2014 PeterNeumann ${SIGNATURE}\n`, [key])).toEqual({ text: TEXT, signers: [key] });
  });

  it("is unsigned for whoever knows no key of it", () => {
    expect(openNote(NOTE, [OTHER])).toBe("unsigned");
    expect(openNote(NOTE, [])).toBe("unsigned");
  });

  it("is split at its last empty line", () => {
    const text = "one\n\ntwo\n\n";
    expect(openNote(signNote(text, OTHER), [OTHER])).toEqual({ text, signers: [OTHER] });
  });

  it("passes over signatures of unknown keys, also under a known name or a known ID", () => {
    const both = `${NOTE}${signNote(TEXT, OTHER).slice(TEXT.length + 1)}`;
    const strangers = [
      `\u2014 PeterNeumann ${Buffer.alloc(68, 1).toString("base64")}\n`,
      `\u2014 somebody ${SIGNATURE}\n`,
    ].join("");
    expect(openNote(both + strangers, [OTHER, key])).toEqual({ text: TEXT, signers: [key, OTHER] });
  });

  it("is rejected whole when a signature of a known key does not hold, whatever else it carries", () => {
    const lie = `${TEXT.replace("problem,", "problem!")}\n\u2014 PeterNeumann ${SIGNATURE}\n`;
    expect(openNote(lie, [key])).toBe("bad_signature");
    const held = signNote(TEXT.replace("problem,", "problem!"), OTHER);
    expect(openNote(`${held}\u2014 PeterNeumann ${SIGNATURE}\n`, [OTHER, key])).toBe("bad_signature");
    const short = Buffer.from(SIGNATURE, "base64").subarray(0, 60).toString("base64");
    expect(openNote(`${TEXT}\n\u2014 PeterNeumann ${short}\n`, [key])).toBe("bad_signature");
  });

  it.each([
    ["no signature", TEXT],
    ["no empty line", TEXT + NOTE.slice(TEXT.length + 1)],
    ["no last line end", NOTE.slice(0, -1)],
    ["a hyphen for the dash", NOTE.replace("\u2014 Peter", "- Peter")],
    ["two blanks behind the name", NOTE.replace("Neumann x", "Neumann  x")],
    ["a line end of two codes", NOTE.replaceAll("\n", "\r\n")],
    ["a tab in its text", NOTE.replace("If you", "If\tyou")],
    ["a lone surrogate", NOTE.replace("If you", "If \ud800")],
    ["unpadded base64", NOTE.replace("nAM=", "nAM")],
    ["stray bits in its base64", NOTE.replace("nAM=", "nAN=")],
    ["a signature of four bytes", `${TEXT}\n\u2014 PeterNeumann x08gow==\n`],
    ["over 65,536 bytes", `${"a".repeat(65_500)}\n${NOTE}`],
    ["over 100 signatures", TEXT + "\n" + `\u2014 a ${SIGNATURE}\n`.repeat(101)],
    ["nothing", ""],
  ])("is malformed with %s", (_, note) => {
    expect(openNote(note, [key])).toBe("malformed");
  });

  it("never opens with another text, whichever byte of it was changed", () => {
    const bytes = Buffer.from(NOTE);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ flip;
        const opened = openNote(changed.toString("utf8"), [key]);
        expect(typeof opened === "string" || opened.text === TEXT).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("is not made of a text that a note cannot hold", () => {
    for (const text of ["no end", "a\r\n", "a\u0000\n"]) expect(() => signNote(text, OTHER)).toThrow(RangeError);
  });
});
