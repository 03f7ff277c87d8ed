import { BROKER, isValid, type Correction, type Grant, type Principal, type State } from "../kernel/index.js";
import { CLOSE, type Limits, type TunableLimits, type Patterns, type TokenRole, type Verb } from "../protocol/index.js";
import type { EventStore } from "../storage/event-store.js";
import { systemChance, type Chance } from "./chance.js";
import { systemClock, type Clock } from "./clock.js";
import { Connection } from "./connection.js";
import { Core, type Untimed } from "./core.js";
import { tell } from "./effects.js";
import { Folds } from "./folds.js";
import { Followers } from "./followers.js";
import { Leases } from "./leases.js";
import type { Parts } from "./parts.js";
import type { Peer } from "./peer.js";
import { Sessions } from "./sessions.js";
import { signerKey } from "../tlog/index.js";
import { finishRedactions, redact, type Redaction, type RedactionRequest } from "./redactions.js";
import { keyCommitment, requireOwn } from "./keys.js";
import { Notary } from "./notary.js";
import { tunedLimits } from "./tuned-limits.js";
import { MemoryTokenHashes, hashToken, identify, newToken, type NewToken, type TokenHashes } from "./tokens.js";
import { Watchers } from "./watchers.js";

export interface BrokerOptions {
  store: EventStore;
  /** Secret key of the log's correction ids, 32 bytes. */
  idKey: Uint8Array;
  /** Ed25519 secret with which the log's checkpoints are signed, 32 bytes. */
  logKey: Uint8Array;
  /** Where token hashes are kept; default: in memory. */
  hashes?: TokenHashes;
  clock?: Clock;
  chance?: Chance;
  /** Deviations from the protocol's limits: whole numbers from 0, else RangeError. */
  limits?: Partial<TunableLimits>;
  /** Version of the program, for the log. */
  version?: string;
  /** Name of a new log; default: `a2achan/` and its shard. */
  origin?: string;
}

/** A grant to be given: to whom, for what, where, and until when. */
export interface GrantRequest {
  role: TokenRole;
  subject: string;
  verbs: readonly Verb[];
  patterns: Patterns;
  /** Milliseconds from now. */
  expiresInMs?: number;
}

/** The broker without its edges: sessions come in through `connect`, administration through the methods below. */
export class Broker {
  /** Resolves with the error when the store fails: the broker has stopped by itself and cannot go on. */
  readonly faulted: Promise<unknown>;
  readonly #parts: Parts;
  readonly #connections = new Set<Connection>();

  private constructor(parts: Parts, faulted: Promise<unknown>) {
    this.#parts = parts;
    this.faulted = faulted;
  }

  /** Takes up the log of the store, or begins it, and starts. Resolves when `broker_started` is durable. */
  static async open(options: BrokerOptions): Promise<Broker> {
    const { store, idKey, logKey, hashes = new MemoryTokenHashes() } = options;
    const { clock = systemClock, chance = systemChance } = options;
    const limits = tunedLimits(options.limits);
    let onFault: (error: unknown) => void = () => {};
    const faulted = new Promise<unknown>((resolve) => {
      onFault = resolve;
    });
    const opened: { broker?: Broker } = {};
    const core = await Core.open(store, clock, {
      stepped: (result, now, asker) => tell(parts, result, now, asker),
      durable: () => parts.followers.durable(),
      fault: (error) => {
        opened.broker?.end(CLOSE.FAULT);
        onFault(error);
      },
    });
    const shard = chance.bytes(8).toString("hex");
    const origin = core.state.opened?.origin ?? options.origin ?? `a2achan/${shard}`;
    const notary = new Notary(store, signerKey(origin, logKey));
    const keys = { log_key: notary.logKey, id_key: keyCommitment(idKey) };
    requireOwn(core.state.opened, keys);
    await finishRedactions(store, core.redacted);
    const sessions = new Sessions();
    const parts: Parts = {
      core,
      store,
      clock,
      chance,
      limits,
      hashes,
      idKey,
      notary,
      sessions,
      watchers: new Watchers(core, sessions),
      followers: new Followers(core, store),
      leases: new Leases(clock, (worker_id) => core.execute({ kind: "lapse", worker_id })),
      folds: new Folds(clock, limits.refusal_refill_ms, (command) => core.execute(command)),
    };
    const broker = new Broker(parts, faulted);
    opened.broker = broker;
    const { version = "0" } = options;
    const { torn } = store;
    core.execute({ kind: "start", shard, origin, ...keys, version, limits, ...(torn !== undefined && { torn }) });
    await core.committed();
    return broker;
  }

  /** Whether requests are still taken. */
  get running(): boolean {
    return this.#parts.core.running;
  }

  get limits(): Limits {
    return this.#parts.limits;
  }

  /**
   * The state after the last decision, of which the log may still be on its way: to be read, never written to.
   * @internal
   */
  get state(): State {
    return this.#parts.core.state;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Takes a connection on, of which `proven` names the token verified before its first frame, if any. */
  connect(peer: Peer, proven?: string): Connection {
    const connection = new Connection(this.#parts, peer, proven);
    this.#connections.add(connection);
    if (!this.#parts.core.running) connection.close(CLOSE.DRAINING);
    return connection;
  }

  /** Forgets a connection whose socket is closed. */
  disconnect(connection: Connection): void {
    connection.gone();
    this.#connections.delete(connection);
  }

  /** What the log's checkpoints are checked with: `ORIGIN+ID+BASE64`. */
  get logKey(): string {
    return this.#parts.notary.logKey;
  }

  /** The log as a tree: a signed checkpoint, and the tiles below it. */
  get notary(): Notary {
    return this.#parts.notary;
  }

  /** Whether a token lets its bearer read the log. */
  mayAudit(token: string): boolean {
    const { core } = this.#parts;
    const id = this.authenticate(token);
    const grant = id === undefined ? undefined : core.state.grants.get(id);
    return grant?.verbs.includes("audit") === true;
  }

  /** The id of a token that is known, granted and still valid. */
  authenticate(token: string): string | undefined {
    const id = identify(this.#parts.hashes, token);
    return id !== undefined && this.isGranted(id) ? id : undefined;
  }

  /** Makes a token. Resolves when its grant is durable: it works at once. The raw token is shown here only. */
  async addToken(request: GrantRequest, by: Principal = BROKER): Promise<NewToken> {
    const made = newToken();
    await this.adoptToken(made, request, by);
    return made;
  }

  /** Grants a token that was made elsewhere (the operator's, kept in a file). */
  async adoptToken({ id, token }: NewToken, request: GrantRequest, by: Principal = BROKER): Promise<void> {
    const { core, hashes } = this.#parts;
    const { expiresInMs, ...grant } = request;
    await hashes.set(id, hashToken(token));
    const expires = expiresInMs === undefined ? {} : { expires_at: core.now() + expiresInMs };
    await this.#commit({ kind: "add_grant", by, token: id, ...grant, ...expires });
  }

  /** Whether a token has a grant that holds now. */
  isGranted(id: string): boolean {
    const grant = this.#parts.core.state.grants.get(id);
    return grant !== undefined && isValid(grant, this.#parts.core.now());
  }

  /** Whether somebody can still be known by a token: its hash is there. */
  isKnown(id: string): boolean {
    return this.#parts.hashes.get(id) !== undefined;
  }

  /** Takes a token's grant away, live connections included. False for a token that has none. */
  async revokeToken(id: string, by: Principal = BROKER): Promise<boolean> {
    const { core } = this.#parts;
    const grant = core.state.grants.get(id);
    if (grant === undefined || grant.revoked) return false;
    await this.#commit({ kind: "revoke_grant", by, token: id });
    return true;
  }

  /** Erases texts for good. Rejects with a sentence where one must stay for now. */
  redact(request: RedactionRequest, by: Principal = BROKER): Promise<Redaction> {
    return redact(this.#parts, request, by);
  }

  // Nothing is decided after the end, and nobody may take it for done.
  async #commit(command: Untimed): Promise<void> {
    const { core } = this.#parts;
    if (!core.running) throw new Error("the broker has stopped");
    core.execute(command);
    await core.committed();
  }

  /** Every grant, revoked ones included, in the order in which they were given. */
  grants(): Grant[] {
    return [...this.#parts.core.state.grants.values()];
  }

  /** Every correction that has not ended, in the order of their admissions. */
  openCorrections(): Correction[] {
    const open = [...this.#parts.core.state.senders.values()].flatMap((sender) => [...sender.open.values()]);
    return open.sort((a, b) => a.index - b.index);
  }

  /** What can be counted from outside. */
  stats(): { connections: number; sessions: number; workers: number; entries: number; waiting: number } {
    const { core, sessions } = this.#parts;
    return {
      connections: this.#connections.size,
      sessions: sessions.size,
      workers: core.state.workers.size,
      entries: core.durable,
      waiting: core.outbox.waiting,
    };
  }

  /** Ends every connection, takes no more work, and resolves when all that was decided is durable. */
  async stop(): Promise<void> {
    const { core, folds, store } = this.#parts;
    folds.flush();
    core.execute({ kind: "stop" });
    core.halt();
    await core.settled();
    // What is durable has left before anybody is told to go.
    await core.committed().catch(() => {});
    this.end(CLOSE.DRAINING);
    await store.close();
  }

  private end(close: (typeof CLOSE)["FAULT" | "DRAINING"]): void {
    this.#parts.leases.clear();
    for (const connection of this.#connections) connection.close(close);
  }
}
