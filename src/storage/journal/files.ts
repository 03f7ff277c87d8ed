import { open, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/** One open file. Positions and sizes are bytes. */
export interface File {
  /** Writes all of `data` at `position`; rejects when it could not, a short write included. */
  write(data: Uint8Array, position: number): Promise<void>;
  /** Reads up to `length` bytes at `position`; fewer at the end of the file. */
  read(length: number, position: number): Promise<Uint8Array>;
  /** Resolves when what was written is on the disk. */
  sync(): Promise<void>;
  size(): Promise<number>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** The few file operations that the journal does: small, so that a test can make each one fail. */
export interface Files {
  /** Opens for reading and writing; `create` makes a file that must not be there yet. */
  open(path: string, create: boolean): Promise<File>;
  /** Names in a directory, sorted; none when it is not there. */
  list(directory: string): Promise<string[]>;
  exists(path: string): Promise<boolean>;
  makeDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Resolves when names made in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

/** The operating system's files. */
export const systemFiles: Files = {
  open: async (path, create) => new SystemFile(await open(path, create ? "wx+" : "r+", 0o600)),
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
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  syncDirectory: async (path) => {
    const directory = await open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
};

class SystemFile implements File {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(data: Uint8Array, position: number): Promise<void> {
    const { bytesWritten } = await this.#handle.write(data, 0, data.length, position);
    // The rest may or may not fit: what the disk did not take at once is a failed write, and is never tried again.
    if (bytesWritten !== data.length) throw new Error(`wrote ${bytesWritten} of ${data.length} bytes`);
  }

  async read(length: number, position: number): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await this.#handle.read(buffer, read, length - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return buffer.subarray(0, read);
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
