import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { Head } from "../event-store.js";
import type { File, Files } from "./files.js";

/** The head that a file tells of, beside a broker that may be writing it; undefined where there is none to be read. */
export async function readHead(files: Files, path: string): Promise<Head | undefined> {
  if (!(await files.exists(path))) return undefined;
  const file = await files.open(path, "read");
  try {
    return (await latestSlot(file))?.head;
  } finally {
    await file.close();
  }
}

/** A slot fills what disks and caches write as one, so that writing one can never touch the other. */
const SLOT_BYTES = 4_096;
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

  /** The last head that is known to be durable. */
  get head(): Head {
    return this.#head;
  }

  /** Opens a head file; undefined when neither slot of it is whole. */
  static async open(files: Files, path: string): Promise<HeadFile | undefined> {
    const file = await files.open(path, "write");
    try {
      const latest = await latestSlot(file);
      if (latest !== undefined) {
        await files.syncDirectory(dirname(path));
        return new HeadFile(file, latest.turn, latest.head);
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return undefined;
  }

  /** Makes a head file that says `head`, in the place of any other; resolves when it is durable. */
  static async create(files: Files, path: string, head: Head): Promise<HeadFile> {
    await files.remove(path);
    const file = await files.open(path, "create");
    try {
      const made = new HeadFile(file, 0, head);
      await made.write(head);
      await files.syncDirectory(dirname(path));
      return made;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Writes the next slot; resolves when it is durable. Not called again before that. */
  async write(head: Head): Promise<void> {
    this.#turn += 1;
    await this.#file.write(slotOf(this.#turn, head), (this.#turn % SLOTS) * SLOT_BYTES);
    await this.#file.sync();
    this.#head = head;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function slotOf(turn: number, { size, root }: Head): Buffer {
  const body = JSON.stringify({ turn, size, root });
  const line = `${body.slice(0, -1)},"crc32":${crc32(body)}}`;
  return Buffer.from(`${line.padEnd(SLOT_BYTES - 1)}\n`);
}

async function latestSlot(file: File): Promise<{ turn: number; head: Head } | undefined> {
  const bytes = Buffer.alloc(SLOTS * SLOT_BYTES);
  await file.read(bytes, 0);
  const slots = [bytes.subarray(0, SLOT_BYTES), bytes.subarray(SLOT_BYTES)].map(parseSlot);
  return slots.reduce((a, b) => ((b?.turn ?? -1) > (a?.turn ?? -1) ? b : a));
}

function parseSlot(bytes: Buffer): { turn: number; head: Head } | undefined {
  try {
    const { turn, size, root } = JSON.parse(bytes.toString("utf8")) as Head & { turn: number };
    return slotOf(turn, { size, root }).equals(bytes) ? { turn, head: { size, root } } : undefined;
  } catch {
    return undefined;
  }
}
