import type { File, Files, OpenMode } from "../../src/storage/journal/files.js";
import type { SimDisk } from "../support/sim-files.js";

/**
 * The files of one process: writes and syncs wait at a gate until the schedule lets them through, and the process is told
 * of a fault of the disk in the turn in which it happens.
 */
export class GatedFiles implements Files {
  readonly disk: SimDisk;
  /** Operations that wait, in the order in which they were begun. */
  readonly waiting: (() => void)[] = [];
  /** While true, operations pass at once. */
  passing = true;
  readonly #onFault: () => void;

  constructor(disk: SimDisk, onFault: () => void) {
    this.disk = disk;
    this.#onFault = onFault;
  }

  /** Lets one operation through. */
  release(at = 0): void {
    this.waiting.splice(at, 1)[0]?.();
  }

  /** Lets every operation through from now on, or holds them back again. */
  hold(held: boolean): void {
    this.passing = !held;
    if (!held) for (const pass of this.waiting.splice(0)) pass();
  }

  async open(path: string, mode: OpenMode): Promise<File> {
    const file = await this.#told(this.disk.open(path, mode));
    return {
      write: async (data, position) => {
        // What is to be written is what it is now, whatever becomes of the buffer.
        const bytes = Buffer.from(data);
        await this.#gate();
        await this.#told(file.write(bytes, position));
      },
      sync: async () => {
        await this.#gate();
        await this.#told(file.sync());
      },
      read: (into, position) => this.#told(file.read(into, position)),
      size: () => this.#told(file.size()),
      truncate: (size) => this.#told(file.truncate(size)),
      close: () => file.close(),
    };
  }

  list(directory: string): Promise<string[]> {
    return this.#told(this.disk.list(directory));
  }

  exists(path: string): Promise<boolean> {
    return this.#told(this.disk.exists(path));
  }

  makeDirectory(path: string): Promise<void> {
    return this.#told(this.disk.makeDirectory(path));
  }

  remove(path: string): Promise<void> {
    return this.#told(this.disk.remove(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#told(this.disk.syncDirectory(path));
  }

  #gate(): Promise<void> {
    return this.passing ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  async #told<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (this.disk.operations.length >= this.disk.faultAt) this.#onFault();
      throw error;
    }
  }
}
