import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TOOLS = ["mkfs.ext4", "losetup", "mount", "umount", "fsfreeze", "cp", "truncate"];
const DISK_MIB = 48;
const UNDER_MIB = 128;

/** Why power cannot be cut here; undefined where it can. */
export function whyNoPowerCuts(): string | undefined {
  if (process.platform !== "linux") return "loop devices are Linux's";
  if (process.getuid?.() !== 0) return "only root may mount";
  const missing = TOOLS.filter((tool) => attempt("which", tool).status !== 0);
  if (missing.length > 0) return `${missing.join(", ")} is not installed`;
  try {
    using disk = new Disk();
    using _copy = disk.cut();
    return undefined;
  } catch (error) {
    undoAll();
    return error instanceof Error ? error.message : String(error);
  }
}

/** What is to be undone, latest first. */
const undos = new Set<() => void>();

/** Runs `undo` once: when the result is disposed, or at the latest when the process ends. */
function undoable(undo: () => void): Disposable {
  const once = (): void => {
    if (undos.delete(once)) undo();
  };
  undos.add(once);
  return { [Symbol.dispose]: once };
}

function undoAll(): void {
  for (const undo of [...undos].reverse()) undo();
}

process.once("exit", undoAll);

function attempt(tool: string, ...args: string[]): { status: number | null; stderr: string } {
  return spawnSync(tool, args, { encoding: "utf8" });
}

function run(tool: string, ...args: string[]): void {
  const { status, stderr } = attempt(tool, ...args);
  if (status !== 0) throw new Error(`${tool} ${args.join(" ")} failed: ${stderr}`);
}

/** An ext4 file system in an image, mounted for as long as it is held. */
export class MountedImage implements Disposable {
  readonly directory: string;
  readonly #undo: Disposable;

  constructor(image: string, directory: string) {
    mkdirSync(directory, { recursive: true });
    run("mount", "-o", "loop,noatime", image, directory);
    this.directory = directory;
    // Whoever still has a file open there keeps the device until it ends, and no longer.
    this.#undo = undoable(() => attempt("umount", "--lazy", directory));
  }

  [Symbol.dispose](): void {
    this.#undo[Symbol.dispose]();
  }
}

/**
 * A disk whose power can be cut in thought: an ext4 image on a loop device. What has reached the device at one instant
 * is copied by stopping the device first, whatever is on its way: the image lies on a file system of its own, and
 * freezing that one holds back every write of the loop device below, while the file system above notices nothing and
 * is not made to write anything out. What the system only has in its cache is not in the copy.
 */
export class Disk implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "a2achan-disk-"));
  readonly #removal: Disposable;
  readonly #under: MountedImage;
  readonly #disk: MountedImage;
  readonly #image: string;
  #copies = 0;

  constructor() {
    const folder = this.#folder;
    this.#removal = undoable(() => rmSync(folder, { recursive: true, force: true }));
    this.#under = newImage(join(folder, "under.img"), UNDER_MIB, join(folder, "under"));
    this.#image = join(this.#under.directory, "disk.img");
    this.#disk = newImage(this.#image, DISK_MIB, join(folder, "disk"));
  }

  /** Where the disk is mounted. */
  get directory(): string {
    return this.#disk.directory;
  }

  /** Writes out all that the system has in its cache for this disk. */
  sync(): void {
    run("sync", "-f", this.directory);
  }

  /** Copies the disk as it is at this instant, and mounts the copy: what a machine finds after a power cut. */
  cut(): MountedImage {
    this.#copies += 1;
    const copy = join(this.#folder, `copy-${this.#copies}.img`);
    {
      using _frozen = this.#freeze();
      run("cp", "--sparse=always", this.#image, copy);
    }
    return new MountedImage(copy, join(this.#folder, `copy-${this.#copies}`));
  }

  #freeze(): Disposable {
    const { directory } = this.#under;
    const thaw = undoable(() => attempt("fsfreeze", "--unfreeze", directory));
    run("fsfreeze", "--freeze", directory);
    return thaw;
  }

  [Symbol.dispose](): void {
    for (const part of [this.#disk, this.#under, this.#removal]) part[Symbol.dispose]();
  }
}

function newImage(image: string, mebibytes: number, directory: string): MountedImage {
  run("truncate", "--size", `${mebibytes}M`, image);
  run("mkfs.ext4", "-q", "-F", image);
  return new MountedImage(image, directory);
}
