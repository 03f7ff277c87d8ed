/** How deep a text may be wrapped: base64 in a JSON string in a frame. */
const LAYERS = 3;
const SALT_BYTES = 32;

/** All that a reader got hold of, searched for needles and salts in whatever form a text can take on its way. */
export class Haul {
  /** Bytes that were looked at. */
  bytes = 0;
  readonly #needle: RegExp;
  readonly #needles = new Set<string>();
  readonly #hex = new Set<string>();
  readonly #binary: Buffer[] = [];
  readonly #unwrapped = new Set<string>();

  constructor(needle: RegExp) {
    this.#needle = needle;
  }

  take(data: string | Uint8Array): void {
    const bytes = Buffer.from(data as Uint8Array);
    this.bytes += bytes.length;
    this.#take(bytes, LAYERS);
  }

  /** Every needle that was in it. */
  get needles(): ReadonlySet<string> {
    return this.#needles;
  }

  /** Those of the salts, in hex, that were in it: as hex, or as bytes. */
  among(salts: Iterable<string>): Set<string> {
    const wanted = new Set(salts);
    const starts = new Set([...wanted].map((salt) => Buffer.from(salt, "hex").readUInt32LE(0)));
    const found = new Set([...this.#hex].filter((hex) => wanted.has(hex)));
    for (const bytes of this.#binary) {
      for (let at = 0; at + SALT_BYTES <= bytes.length; at += 1) {
        if (!starts.has(bytes.readUInt32LE(at))) continue;
        const salt = bytes.toString("hex", at, at + SALT_BYTES);
        if (wanted.has(salt)) found.add(salt);
      }
    }
    return found;
  }

  #take(bytes: Buffer, layers: number): void {
    this.#binary.push(bytes);
    // Needles and salts are ASCII: whatever the bytes are, one character a byte shows them.
    this.#look(bytes.toString("latin1"), layers);
  }

  #look(text: string, layers: number): void {
    for (const [needle] of text.matchAll(this.#needle)) this.#needles.add(needle);
    for (const [run] of text.matchAll(/[0-9a-f]{64,}/gi)) {
      for (let at = 0; at + 64 <= run.length; at += 1) this.#hex.add(run.slice(at, at + 64).toLowerCase());
    }
    if (layers === 0) return;
    if (text.includes("\\u")) {
      const plain = text.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
      this.#look(plain, layers - 1);
    }
    for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{22,}/g)) {
      if (this.#unwrapped.has(run)) continue;
      this.#unwrapped.add(run);
      this.#take(Buffer.from(run, "base64"), layers - 1);
    }
  }
}
