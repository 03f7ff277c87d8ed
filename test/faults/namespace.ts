import { spawnSync } from "node:child_process";

/** Why no network can be made here; undefined where one can. */
export function whyNoNamespace(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  if (process.getuid?.() !== 0) return "only root may make a network namespace";
  try {
    using _network = new Namespace();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A network of its own, joined to ours by one cable, that a process can be put into. */
export class Namespace implements Disposable {
  /** Our end of the cable. */
  readonly address: string;
  readonly #name = `a2c-${process.pid}`;
  readonly #near = `a2cn${process.pid % 1_000_000}`;
  readonly #far = `a2cf${process.pid % 1_000_000}`;

  readonly #undo = (): void => {
    spawnSync("ip", ["link", "del", this.#near]);
    spawnSync("ip", ["netns", "del", this.#name]);
  };

  constructor() {
    // Of 198.18.0.0/15, which is kept for tests of networks (RFC 2544): nobody else is there.
    const net = `198.18.${process.pid % 256}`;
    this.address = `${net}.1`;
    process.once("exit", this.#undo);
    try {
      ip("netns", "add", this.#name);
      ip("link", "add", this.#near, "type", "veth", "peer", "name", this.#far, "netns", this.#name);
      ip("address", "add", `${this.address}/30`, "dev", this.#near);
      ip("link", "set", this.#near, "up");
      ip("-n", this.#name, "address", "add", `${net}.2/30`, "dev", this.#far);
      this.plug();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Pulls the cable out at the far end: nobody is told, packets are lost. */
  unplug(): void {
    ip("-n", this.#name, "link", "set", this.#far, "down");
  }

  plug(): void {
    ip("-n", this.#name, "link", "set", this.#far, "up");
  }

  /** How to run a command in there. */
  inside(...command: string[]): { command: string; args: string[] } {
    return { command: "ip", args: ["netns", "exec", this.#name, ...command] };
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#undo);
    this.#undo();
  }
}

function ip(...args: string[]): void {
  const { error, status, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (error !== undefined) throw new Error("ip is not installed");
  if (status !== 0) throw new Error(`ip ${args.join(" ")} failed: ${stderr.trim()}`);
}
