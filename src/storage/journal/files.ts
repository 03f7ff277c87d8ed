import { fstatSync, writeSync } from "node:fs";
import { open, mkdir, readdir, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** One open file. Positions and sizes are bytes. */
export interface File {
  /** Writes all of `data` at `position`; rejects when it could not, a short write included. */
  write(data: Uint8Array, position: number): Promise<void>;
  /** Fills `into` from `position` on; resolves with the number of bytes, fewer only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Resolves when what was written is on the disk. */
  sync(): Promise<void>;
  size(): Promise<number>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** `create` makes a file that must not be there yet. */
export type OpenMode = "read" | "write" | "create";

/** The few file operations that the journal does: small, so that a test can make each one fail. */
export interface Files {
  open(path: string, mode: OpenMode): Promise<File>;
  /** Names in a directory, sorted; none when it is not there. */
  list(directory: string): Promise<string[]>;
  exists(path: string): Promise<boolean>;
  /** Makes a directory and those above it; resolves when the names of those that it made are on the disk. */
  makeDirectory(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Resolves when the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

const FLAGS = { read: "r", write: "r+", create: "wx+" } as const satisfies Record<OpenMode, string>;

/** The operating system's files. */
export const systemFiles: Files = {
  open: async (path, mode) => new SystemFile(await open(path, FLAGS[mode], 0o600)),
  list: async (directory) => {
    try {
      return (await readdir(directory)).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  },
  exists: async (path) => {
    try {
      await stat(path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  },
  makeDirectory: async (path) => {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    const first = resolve(made);
    for (let at = resolve(path); ; at = dirname(at)) {
      await syncDirectory(dirname(at));
      if (at === first) break;
    }
  },
  remove: (path) => rm(path, { force: true }),
  syncDirectory,
};

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes of at most so many bytes are made in the calling turn. */
const INLINE_BYTES = 65_536;

class SystemFile implements File {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  // A small write ends in the page cache within microseconds; handing it to another thread takes longer than that and
  // would be paid before every answer. Only the sync waits for the disk.
  async write(data: Uint8Array, position: number): Promise<void> {
    const bytesWritten =
      data.length <= INLINE_BYTES
        ? writeSync(this.#handle.fd, data, 0, data.length, position)
        : (await this.#handle.write(data, 0, data.length, position)).bytesWritten;
    // The rest may or may not fit: what the disk did not take at once is a failed write, and is never tried again.
    if (bytesWritten !== data.length)
      throw new Error(`wrote ${bytesWritten} of ${data.length} bytes; is the disk full?`);
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    let read = 0;
    while (read < into.length) {
      const { bytesRead } = await this.#handle.read(into, read, into.length - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return read;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  size(): Promise<number> {
    return Promise.resolve(fstatSync(this.#handle.fd).size);
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
