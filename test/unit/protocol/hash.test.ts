import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as node from "../../../src/protocol/hash.js";
import * as browser from "../../../src/protocol/hash-browser.js";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const { vectors } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/status-digest.json", import.meta.url), "utf8"),
) as { vectors: { canonical: string; status_digest: string }[] };

describe.each([
  ["Node", node],
  ["a browser", browser],
])("#sha256 in %s", (_where, hash) => {
  it("is SHA-256 of bytes and of UTF-8 (FIPS 180-4)", () => {
    expect(hash.sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(hash.sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(hash.sha256Hex(ascii("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  it("is HMAC-SHA-256 (RFC 4231, cases 2 and 6)", () => {
    expect(hash.hmacHex(ascii("Jefe"), "what do ya want for nothing?")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
    const longKey = new Uint8Array(131).fill(0xaa);
    expect(hash.hmacHex(longKey, "Test Using Larger Than Block-Size Key - Hash Key First")).toBe(
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    );
  });

  it("hashes a prefix, a salt and a text as one", () => {
    expect(hash.saltedHex("a", ascii("b"), "c")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("gives every vector its status digest [A2C-ROW-04]", () => {
    const digests = vectors.map(({ canonical }) => `sha256:${hash.sha256Hex(canonical)}`);
    expect(digests).toEqual(vectors.map(({ status_digest }) => status_digest));
    expect(digests).toHaveLength(28);
  });
});

it("#sha256 is the same in Node and in a browser for any text, lone surrogates included", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  const property = fc.property(text, fc.uint8Array({ maxLength: 200 }), (utf8, bytes) => {
    expect(browser.sha256Hex(utf8)).toBe(node.sha256Hex(utf8));
    expect(browser.hmacHex(bytes, utf8)).toBe(node.hmacHex(bytes, utf8));
    expect(browser.saltedHex("a2achan\0", bytes, utf8)).toBe(node.saltedHex("a2achan\0", bytes, utf8));
  });
  fc.assert(property, { numRuns: 500 });
});
