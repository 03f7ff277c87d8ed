import { dirname } from "node:path";
import type { File, Files, OpenMode } from "../../src/storage/journal/files.js";
import { afterPowerCut, apply, cutShort, type Change, type Node } from "./power-cut.js";
import { randomFrom, type Random } from "./random.js";

/**
 * What happens to one operation. `EIO` and `ENOSPC` reject it, a write perhaps half done; `short` writes a part and
 * rejects; `power` and `kill` end the process in the middle of it: with `power` the disk is to be taken from `crash`,
 * with `kill` from `survivor`.
 */
export type Fault = "EIO" | "ENOSPC" | "short" | "power" | "kill";

type Entry = Node | "directory";

/** Files in memory on a disk that keeps what was synced and nothing else for certain. Deterministic from its seed. */
export class SimDisk implements Files {
  /** Every operation so far but `close`, as `kind path`; the n-th is at n - 1. */
  readonly operations: string[] = [];
  /** Ordinal of the operation that gets `fault`, counted from 1; none by default. */
  faultAt = 0;
  fault: Fault = "EIO";
  /** Files that are open. */
  handles = 0;
  /** Files with this in their path are said to be synced without being it. */
  lies: string | undefined;
  readonly #random: Random;
  readonly #names = new Map<string, Entry>();
  readonly #kept = new Map<string, Entry>();
  #dead = false;
  #held: { path: string; open: Promise<void> } | undefined;

  constructor(seed = 1) {
    this.#random = randomFrom(seed);
  }

  /** A disk that holds these files, by path, and their directories. */
  static of(files: Readonly<Record<string, Uint8Array>>, seed = 1): SimDisk {
    const disk = new SimDisk(seed);
    for (const [path, bytes] of Object.entries(files)) disk.put(path, bytes);
    return disk;
  }

  /** Puts a file there, durable, in place of any other. */
  put(path: string, bytes: Uint8Array): void {
    const data = Buffer.from(bytes);
    this.#directories(path);
    const node: Node = { seen: data, disk: data, pending: [] };
    for (const names of [this.#names, this.#kept]) names.set(path, node);
  }

  /** Takes a file away for good. */
  drop(path: string): void {
    for (const names of [this.#names, this.#kept]) names.delete(path);
  }

  /** What a reader sees of a file. */
  bytes(path: string): Buffer {
    const entry = this.#names.get(path);
    if (entry === undefined || entry === "directory") throw new Error(`ENOENT: ${path}`);
    return entry.seen;
  }

  /** Every file by path, as a reader sees it. */
  contents(): Record<string, Buffer> {
    const files = [...this.#names].filter(([, entry]) => entry !== "directory");
    return Object.fromEntries(files.map(([path]) => [path, this.bytes(path)]));
  }

  /** Whether a file has these bytes, as a reader sees it or as it may be after a power cut. */
  holds(bytes: string): boolean {
    const nodes = [...this.#names.values(), ...this.#kept.values()].filter((entry) => entry !== "directory");
    return nodes.some(({ seen, disk, pending }) => {
      const written = pending.map((change) => ("data" in change ? change.data : Buffer.alloc(0)));
      return [seen, disk, ...written].some((one) => one.includes(bytes));
    });
  }

  /**
   * The disk as the next process finds it when this one is gone: nothing is lost, and nothing more is synced than was.
   * A copy, so that a test can go on from the same point in several ways.
   */
  survivor(seed = 1): SimDisk {
    const next = new SimDisk(seed);
    const copies = new Map<Entry, Entry>();
    const copy = (entry: Entry): Entry => {
      const made = copies.get(entry) ?? (entry === "directory" ? entry : { ...entry, pending: [...entry.pending] });
      copies.set(entry, made);
      return made;
    };
    for (const [path, entry] of this.#names) next.#names.set(path, copy(entry));
    for (const [path, entry] of this.#kept) next.#kept.set(path, copy(entry));
    this.#dead = true;
    return next;
  }

  /** The disk as it may look after a power cut now; each seed tells another story. */
  crash(seed: number): SimDisk {
    const random = randomFrom(seed);
    const next = new SimDisk(seed);
    const after = new Map<Entry, Entry>();
    for (const path of new Set([...this.#names.keys(), ...this.#kept.keys()])) {
      const choices = [this.#names.get(path), this.#kept.get(path)];
      if (choices[0] !== choices[1]) choices.push(undefined);
      const entry = choices[random(choices.length)];
      if (entry === undefined) continue;
      const lost = after.get(entry) ?? (entry === "directory" ? entry : afterPowerCut(entry, random));
      after.set(entry, lost);
      for (const names of [next.#names, next.#kept]) names.set(path, lost);
    }
    for (const path of next.#names.keys())
      if (!next.#reachable(path)) for (const names of [next.#names, next.#kept]) names.delete(path);
    this.#dead = true;
    return next;
  }

  /** Keeps back every operation on a file until the function is called that this gives. */
  hold(path: string): () => void {
    let release = (): void => {};
    const open = new Promise<void>((resolve) => (release = resolve));
    this.#held = { path, open };
    return () => {
      this.#held = undefined;
      release();
    };
  }

  open(path: string, mode: OpenMode): Promise<File> {
    return this.step(mode === "create" ? `open ${path}` : `reopen ${path}`, () => {
      const there = this.#names.get(path);
      if (mode === "create") {
        if (there !== undefined) throw new Error(`EEXIST: ${path}`);
        if (this.#names.get(dirname(path)) !== "directory") throw new Error(`ENOENT: ${dirname(path)}`);
        const empty = Buffer.alloc(0);
        const node: Node = { seen: empty, disk: empty, pending: [] };
        this.#names.set(path, node);
        return new SimFile(this, path, node);
      }
      if (there === undefined || there === "directory") throw new Error(`ENOENT: ${path}`);
      return new SimFile(this, path, there);
    });
  }

  list(directory: string): Promise<string[]> {
    return this.step(`list ${directory}`, () => {
      const paths = [...this.#names.keys()].filter((path) => path !== directory && dirname(path) === directory);
      return paths.map((path) => path.slice(path.lastIndexOf("/") + 1)).sort();
    });
  }

  exists(path: string): Promise<boolean> {
    return this.step(`exists ${path}`, () => this.#names.has(path));
  }

  makeDirectory(path: string): Promise<void> {
    return this.step(
      `directory ${path}`,
      () => this.#directories(`${path}/.`),
      () => this.#names.set(path, "directory"),
    );
  }

  remove(path: string): Promise<void> {
    return this.step(`remove ${path}`, () => void this.#names.delete(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.step(
      `sync names ${path}`,
      () => {
        for (const name of new Set([...this.#names.keys(), ...this.#kept.keys()])) {
          if (dirname(name) !== path) continue;
          const entry = this.#names.get(name);
          if (entry === undefined) this.#kept.delete(name);
          else this.#kept.set(name, entry);
        }
      },
      () => {},
    );
  }

  /**
   * One operation, now or when its file is no longer held: does `whole`, unless a fault is due. Then `partly` is what becomes of it all the same, by default
   * everything when the process ends in the middle of it, and nothing when it fails.
   */
  async step<T>(operation: string, whole: () => T, partly?: (fault: Fault, random: Random) => unknown): Promise<T> {
    if (this.#dead) throw new Error("the process is gone");
    this.operations.push(operation);
    const ordinal = this.operations.length;
    if (this.#held !== undefined && operation.endsWith(` ${this.#held.path}`)) await this.#held.open;
    if (ordinal !== this.faultAt) return whole();
    const { fault } = this;
    const ends = fault === "power" || fault === "kill";
    if (partly !== undefined) partly(fault, this.#random);
    else if (ends) whole();
    this.#dead = ends;
    throw new Error(`${fault} at operation ${this.faultAt}: ${operation}`);
  }

  #directories(path: string): void {
    for (let at = dirname(path); at !== "/" && at !== "."; at = dirname(at))
      for (const names of [this.#names, this.#kept]) names.set(at, "directory");
  }

  #reachable(path: string): boolean {
    const above = dirname(path);
    return above === "/" || above === "." || (this.#names.get(above) === "directory" && this.#reachable(above));
  }
}

class SimFile implements File {
  readonly #disk: SimDisk;
  readonly #path: string;
  readonly #node: Node;
  #open = true;

  constructor(disk: SimDisk, path: string, node: Node) {
    this.#disk = disk;
    this.#path = path;
    this.#node = node;
    disk.handles += 1;
  }

  write(data: Uint8Array, position: number): Promise<void> {
    const write = { at: position, data: Buffer.from(data) };
    return this.#disk.step(
      `write ${this.#path}`,
      () => this.#change(write),
      (fault, random) =>
        this.#change(fault === "power" ? write : cutShort(this.#node.seen, write, random(write.data.length))),
    );
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#disk.step(`read ${this.#path}`, () => this.#node.seen.copy(into, 0, position));
  }

  sync(): Promise<void> {
    const node = this.#node;
    return this.#disk.step(
      `sync ${this.#path}`,
      () => {
        if (this.#disk.lies !== undefined && this.#path.includes(this.#disk.lies)) return;
        node.disk = node.pending.reduce(apply, node.disk);
        node.pending = [];
      },
      // A sync that failed: each change may be on the disk, or stay in the cache, and never be written by a later one.
      (fault, random) => {
        if (fault === "power" || fault === "kill") return;
        node.disk = node.pending.reduce((disk, one) => (random(2) === 0 ? apply(disk, one) : disk), node.disk);
        node.pending = [];
      },
    );
  }

  size(): Promise<number> {
    return this.#disk.step(`size ${this.#path}`, () => this.#node.seen.length);
  }

  truncate(size: number): Promise<void> {
    return this.#disk.step(`truncate ${this.#path}`, () => this.#change({ size }));
  }

  close(): Promise<void> {
    if (this.#open) this.#disk.handles -= 1;
    this.#open = false;
    return Promise.resolve();
  }

  #change(change: Change): void {
    this.#node.seen = apply(this.#node.seen, change);
    this.#node.pending.push(change);
  }
}
