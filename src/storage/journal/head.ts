import { crc32 } from "node:zlib";
import type { File, Files } from "./files.js";

/** How far the log is known to be durable: kept in a second place, so that a cut log is noticed. */
export interface Head {
  size: number;
  /** Root of the tree over `size` entries, lower-case hex. */
  root: string;
}

const SLOT_BYTES = 256;
const SLOTS = 2;

/** The head file: two slots, written in turn, so that one is whole whatever happens while the other is written. */
export class HeadFile {
  readonly #file: File;
  #turn: number;
  #head: Head;

  private constructor(file: File, turn: number, head: Head) {
    this.#file = file;
    this.#turn = turn;
    this.#head = head;
  }

  get head(): Head {
    return this.#head;
  }

  /** Opens a head file. Rejects when neither slot can be read. */
  static async open(files: Files, path: string): Promise<HeadFile> {
    const file = await files.open(path, false);
    let latest: { turn: number; head: Head } | undefined;
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const read = parseSlot(await file.read(SLOT_BYTES, slot * SLOT_BYTES));
      if (read !== undefined && (latest === undefined || read.turn > latest.turn)) latest = read;
    }
    if (latest !== undefined) return new HeadFile(file, latest.turn, latest.head);
    await file.close();
    throw new Error(`neither slot of ${path} can be read`);
  }

  /** Makes a head file that says `head`; resolves when it is durable. */
  static async create(files: Files, path: string, directory: string, head: Head): Promise<HeadFile> {
    const file = await files.open(path, true);
    const made = new HeadFile(file, 0, head);
    await made.write(head);
    await files.syncDirectory(directory);
    return made;
  }

  /** Writes the next slot; resolves when it is durable. */
  async write(head: Head): Promise<void> {
    this.#turn += 1;
    this.#head = head;
    await this.#file.write(slotOf(this.#turn, head), (this.#turn % SLOTS) * SLOT_BYTES);
    await this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function slotOf(turn: number, { size, root }: Head): Uint8Array {
  const body = JSON.stringify({ turn, size, root });
  const line = `${body.slice(0, -1)},"crc32":${crc32(body)}}`;
  return Buffer.from(`${line.padEnd(SLOT_BYTES - 1)}\n`);
}

function parseSlot(bytes: Uint8Array): { turn: number; head: Head } | undefined {
  try {
    const { turn, size, root } = JSON.parse(Buffer.from(bytes).toString("utf8")) as Head & { turn: number };
    return slotOf(turn, { size, root }).every((byte, at) => byte === bytes[at])
      ? { turn, head: { size, root } }
      : undefined;
  } catch {
    return undefined;
  }
}
