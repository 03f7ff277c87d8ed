import { describe, expect, it } from "vitest";
import { MemoryTokenHashes, hashToken, identify, newToken, tokenId } from "../../../src/broker/tokens.js";

async function keep(token: string, hash = hashToken(token)): Promise<MemoryTokenHashes> {
  const hashes = new MemoryTokenHashes();
  await hashes.set(tokenId(token) ?? "", hash);
  return hashes;
}

describe("a new token", () => {
  it("is a2t, its id, and 32 random bytes", () => {
    const { id, token } = newToken();
    expect(token).toMatch(/^a2t_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
    expect(token.slice(4, 12)).toBe(id);
    expect(Buffer.from(token.slice(13), "base64url")).toHaveLength(32);
    expect(tokenId(token)).toBe(id);
  });

  it("is another one each time", () => {
    const tokens = Array.from({ length: 500 }, () => newToken());
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(500);
    expect(new Set(tokens.map(({ token }) => token.slice(13))).size).toBe(500);
  });
});

describe("identify", () => {
  it("knows a token by its hash, which is all that is kept", async () => {
    const { id, token } = newToken();
    const hashes = await keep(token);
    expect(identify(hashes, token)).toBe(id);
    expect(hashes.get(id)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashes.get(id)).toBe(hashToken(token));
  });

  it("knows none that differs in any one character", async () => {
    const { token } = newToken();
    const hashes = await keep(token);
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === "A" ? "B" : "A";
      expect(identify(hashes, token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined();
    }
  });

  it("knows none in which the unused bits of the last character differ", async () => {
    const token = `${newToken().token.slice(0, -1)}A`;
    const hashes = await keep(token);
    const twin = token.replace(/A$/, "B");
    expect(Buffer.from(twin.slice(13), "base64url")).toEqual(Buffer.from(token.slice(13), "base64url"));
    expect(identify(hashes, twin)).toBeUndefined();
  });

  it.each([
    ["a blank behind it", (token: string) => `${token} `],
    ["a line feed behind it", (token: string) => `${token}\n`],
    ["a part missing", (token: string) => token.slice(0, -1)],
    ["a part twice", (token: string) => token + token],
    ["another scheme", (token: string) => token.replace("a2t", "A2T")],
    ["padding", (token: string) => `${token}=`],
    ["its own hash for it", (token: string) => hashToken(token)],
    ["nothing", () => ""],
  ])("knows no token with %s", async (_what, change) => {
    const { token } = newToken();
    expect(identify(await keep(token), change(token))).toBeUndefined();
  });

  it("knows none of which nothing is kept, or something damaged", async () => {
    const { id, token } = newToken();
    expect(identify(new MemoryTokenHashes(), token)).toBeUndefined();
    for (const hash of ["", "zz", hashToken(token).slice(2), `${hashToken(token)}00`, id]) {
      expect(identify(await keep(token, hash), token)).toBeUndefined();
    }
  });
});
