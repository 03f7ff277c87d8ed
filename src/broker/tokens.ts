import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const TOKEN = /^a2t_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})$/;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A token as it is handed out once: nobody can read it back. */
export interface NewToken {
  id: string;
  token: string;
}

/** Where token hashes are kept: `id` to lower-case hex of SHA-256 over the whole token. */
export interface TokenHashes {
  get(id: string): string | undefined;
  /** Resolves when the hash is durable. */
  set(id: string, hash: string): Promise<void>;
}

export function newToken(): NewToken {
  const id = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return { id, token: `a2t_${id}_${randomBytes(32).toString("base64url")}` };
}

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** The id of a token that is one of ours; says nothing yet of what it grants, or whether it still does. */
export function identify(hashes: TokenHashes, token: string): string | undefined {
  const id = TOKEN.exec(token)?.[1];
  const known = id === undefined ? undefined : hashes.get(id);
  if (id === undefined || known === undefined) return undefined;
  const [kept, shown] = [Buffer.from(known, "hex"), Buffer.from(hashToken(token), "hex")];
  return kept.length === shown.length && timingSafeEqual(kept, shown) ? id : undefined;
}

/** The id that a token names, known or not; undefined for a string that is no token. */
export function tokenId(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** Token hashes that last as long as the process. */
export class MemoryTokenHashes implements TokenHashes {
  readonly #hashes = new Map<string, string>();

  get(id: string): string | undefined {
    return this.#hashes.get(id);
  }

  set(id: string, hash: string): Promise<void> {
    this.#hashes.set(id, hash);
    return Promise.resolve();
  }
}
