import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { newToken, tokenId, type NewToken, type TokenHashes } from "../broker/index.js";
import { CliError, EXIT, NoBrokerError } from "./exit.js";

export const DEFAULT_DATA = "./.a2achan";

/** What a running broker says of itself in `broker.json`. */
export interface BrokerFile {
  pid: number;
  url: string;
  http: string;
  version: string;
  /** Milliseconds since 1970. */
  started: number;
}

/** The data directory of a broker (README): secrets are 0600 in a directory of 0700. */
export class DataDir {
  readonly path: string;

  /** Opens the directory: with `make` it is created if it is not there, else it must be a broker's. */
  constructor(path: string, make: boolean) {
    requireNamed(path);
    this.path = resolve(path);
    try {
      if (make) makeDirectory(this.path);
      if (existsSync(this.path)) this.#requireUsable(make);
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(
        `cannot make the data directory ${this.path}: ${reasonOf(error)}; choose another with --data`,
        EXIT.CONFIG,
      );
    }
    const start = `start a broker with: a2achan serve --data ${path}`;
    if (!existsSync(this.path)) throw new NoBrokerError(`there is no data directory ${this.path}; ${start}`);
    // The first start makes its keys before all else; a copy for whoever reads the log goes without them.
    if (!make && !existsSync(join(this.path, "keys")) && !existsSync(this.log))
      throw new NoBrokerError(`${this.path} holds no broker's data; ${start}`);
  }

  get controlSocket(): string {
    return join(this.path, "control.sock");
  }

  /** Where the log's segments lie. */
  get log(): string {
    return join(this.path, "log");
  }

  /** How far the log is known to be durable. */
  get head(): string {
    return join(this.path, "head");
  }

  get operatorToken(): string {
    return join(this.path, "operator.token");
  }

  /** The operator's token, the one raw token on disk: made on first use, and anew when the kept one `isRevoked`. */
  operator(isRevoked: (id: string) => boolean = () => false): NewToken {
    const kept = this.keptOperator();
    if (kept !== undefined && !isRevoked(kept.id)) return kept;
    const made = newToken();
    this.#write("operator.token", `${made.token}\n`);
    return made;
  }

  /** The operator's token as the last start left it; undefined when there is none. */
  keptOperator(): NewToken | undefined {
    const token = this.#read("operator.token")?.trim();
    if (token === undefined) return undefined;
    this.#requirePrivate("operator.token");
    const id = tokenId(token);
    if (id === undefined)
      throw new CliError(`${this.operatorToken} holds no token; remove it and start again`, EXIT.CONFIG);
    return { id, token };
  }

  /** The key under which correction ids are made; belongs to the log. */
  idKey(): Uint8Array {
    return this.#key("id.key", "correction ids hang on it");
  }

  /** The secret with which checkpoints are signed; belongs to the log. */
  logKey(): Uint8Array {
    return this.#key("log.key", "checkpoints are signed with it");
  }

  #key(name: string, use: string): Uint8Array {
    const file = join("keys", name);
    const kept = this.#read(file)?.trim();
    if (kept !== undefined) {
      if (!/^[0-9a-f]{64}$/.test(kept))
        throw new CliError(`${join(this.path, file)} is not a key of 32 bytes in hex`, EXIT.CONFIG);
      this.#requirePrivate(file);
      return Buffer.from(kept, "hex");
    }
    if (existsSync(this.log)) {
      throw new CliError(`${join(this.path, file)} is missing, and the log's ${use}; restore it`, EXIT.CONFIG);
    }
    const key = randomBytes(32);
    makeDirectory(join(this.path, "keys"));
    this.#write(file, `${key.toString("hex")}\n`);
    return key;
  }

  /** Token hashes in `grants.json`; what each token grants is in the log. */
  hashes(): TokenHashes {
    const kept = this.#read("grants.json");
    const hashes = new Map<string, string>(kept === undefined ? [] : this.#entriesOf(kept));
    return {
      get: (id) => hashes.get(id),
      set: (id, hash) => {
        hashes.set(id, hash);
        this.#write("grants.json", `${JSON.stringify(Object.fromEntries(hashes), undefined, 2)}\n`);
        return Promise.resolve();
      },
    };
  }

  /** What the broker that runs here says of itself, or one that was killed did; undefined when there is none. */
  broker(): BrokerFile | undefined {
    const kept = this.#read("broker.json");
    if (kept === undefined) return undefined;
    try {
      return JSON.parse(kept) as BrokerFile;
    } catch {
      throw new CliError(`${join(this.path, "broker.json")} is damaged; start the broker again`, EXIT.CONFIG);
    }
  }

  announce(broker: BrokerFile): void {
    this.#write("broker.json", `${JSON.stringify(broker)}\n`);
  }

  withdraw(): void {
    rmSync(join(this.path, "broker.json"), { force: true });
  }

  #entriesOf(grants: string): [string, string][] {
    try {
      return Object.entries(JSON.parse(grants) as Record<string, string>);
    } catch {
      throw new CliError(
        `${join(this.path, "grants.json")} is damaged; restore it, or remove it and make new tokens`,
        EXIT.CONFIG,
      );
    }
  }

  #requireUsable(make: boolean): void {
    if (!statSync(this.path).isDirectory()) throw new CliError(`${this.path} is no directory`, EXIT.CONFIG);
    try {
      accessSync(this.path, constants.R_OK | constants.X_OK | (make ? constants.W_OK : 0));
    } catch {
      const what = make ? "write to" : "read";
      throw new CliError(
        `this user may not ${what} the data directory ${this.path}; choose another with --data`,
        EXIT.CONFIG,
      );
    }
  }

  #requirePrivate(name: string): void {
    const file = join(this.path, name);
    if ((statSync(file).mode & 0o077) !== 0) {
      throw new CliError(`${file} can be read by others; run chmod 600 on it`, EXIT.CONFIG);
    }
  }

  #read(name: string): string | undefined {
    const file = join(this.path, name);
    try {
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    } catch (error) {
      throw new CliError(`cannot read ${file}: ${reasonOf(error)}`, EXIT.CONFIG);
    }
  }

  // A whole file or the one before it: written beside, synced, renamed, and its name synced.
  #write(name: string, text: string): void {
    const file = join(this.path, name);
    try {
      const fd = openSync(`${file}.new`, "w", 0o600);
      try {
        writeSync(fd, text);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(`${file}.new`, file);
      syncDirectory(dirname(file));
    } catch (error) {
      throw new CliError(`cannot write ${file}: ${reasonOf(error)}`, EXIT.CONFIG);
    }
  }
}

/**
 * Makes a directory and those above it; its name is on the disk when this returns, so that nothing in it can outlast it.
 * Not by Node's own `recursive`, which never returns where a directory cannot be made at all (below /proc, say).
 */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    return makeDirectory(path);
  }
  syncDirectory(dirname(path));
}

function syncDirectory(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Throws where `--data` was given and is empty: an unset variable must not name the current directory. */
export function requireNamed(path: string | undefined): void {
  if (path === "") throw new CliError("--data names no directory; is a variable not set?", EXIT.USAGE);
}

/** What went wrong, in the system's words, without its code, call and path. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z]+: (.+?), \w+/.exec(message)?.[1] ?? message;
}
