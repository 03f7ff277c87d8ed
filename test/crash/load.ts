import { randomFrom, type Random } from "../support/random.js";
import { EVERYWHERE, type Serve } from "../support/serve.js";
import type { Frame } from "../support/wire.js";
import type { Book } from "./book.js";
import { LoadClient } from "./client.js";

/** Who takes part, each with a token: made once for a data directory. */
export interface Cast {
  workers: { id: string; token: string }[];
  orchestrators: string[];
  auditor: string;
}

const WORKERS = 5;
const ORCHESTRATORS = 6;
/** Requests that one orchestrator has on their way at once. */
const AT_ONCE = 3;
/** Where every worker's row stands. */
export const SCOPE = { issue: "2162", lane: "internal/a2achan" };

export async function provideCast(broker: Serve, book: Book): Promise<Cast> {
  const make = async (request: Parameters<Serve["token"]>[0]): Promise<string> => {
    const made = await broker.token(request);
    book.granted(made);
    return made.token;
  };
  const cast: Cast = { workers: [], orchestrators: [], auditor: "" };
  for (let at = 0; at < WORKERS; at += 1) {
    const id = `worker-${at}`;
    cast.workers.push({ id, token: await make({ role: "worker", subject: id, issue: "**", lane: "**" }) });
  }
  for (let at = 0; at < ORCHESTRATORS; at += 1) {
    cast.orchestrators.push(await make({ role: "orchestrator", subject: `orchestrator-${at}`, ...EVERYWHERE }));
  }
  cast.auditor = await make({ role: "auditor", subject: "auditor" });
  return cast;
}

interface Seen {
  row: { worker_id: string; seq: number };
  status_digest: string;
}

/** Clients that keep a broker busy until it dies or they are told to stop, and that note all they read. */
export class Load {
  readonly #broker: Serve;
  readonly #cast: Cast;
  readonly #book: Book;
  readonly #random: Random;
  /** Those that were welcomed. */
  readonly clients = new Set<LoadClient>();
  #stopped = false;
  #due: { answers: number; act: () => void } | undefined;

  /** `schedule` gives the load a seed of its own: how often that draws hangs on how the clients' turns fall. */
  constructor(broker: Serve, cast: Cast, book: Book, schedule: Random) {
    this.#broker = broker;
    this.#cast = cast;
    this.#book = book;
    this.#random = randomFrom(schedule(0x1_0000_0000));
  }

  /**
   * Runs until the clients have read `answers` replies, calls `then` in the turn in which the last of them is read, and
   * resolves when every client is gone: because the broker is, or because `stop` was called.
   */
  async run(answers: number, then: () => void): Promise<void> {
    const begun = this.#book.answers;
    this.#due = { answers: begun + answers, act: then };
    const { workers, orchestrators, auditor } = this.#cast;
    await Promise.all([
      ...workers.map(({ id, token }) => this.#worker(id, token)),
      ...orchestrators.map((token) => this.#orchestrator(token)),
      this.#auditor(auditor),
      this.#administrator(),
    ]);
    if (this.#due !== undefined)
      throw new Error(`the load ended by itself after ${this.#book.answers - begun} answers`);
  }

  /** Ends the load; what is unanswered stays so. */
  stop(): void {
    this.#stopped = true;
    for (const client of this.clients) client.close();
  }

  /** A worker that publishes, receives, acks with and without a plan, declines, or leaves a correction where it is. */
  async #worker(id: string, token: string): Promise<void> {
    const client = await this.#connect(token, { role: "worker", worker_id: id });
    let turn = this.#random(1_000);
    const publish = (): Promise<unknown> =>
      client.ask({ type: "status", ...SCOPE, last_action: `${id} did step ${(turn += 1)}` });
    await publish();
    while (client.open) {
      for (const { type, correction } of await client.pushes()) {
        if (type !== "correction") continue;
        await this.#correction(client, correction as { correction_id: string; status_digest: string });
        if (this.#random(4) === 0) await publish();
      }
    }
  }

  async #correction(client: LoadClient, { correction_id, status_digest }: Record<string, string>): Promise<void> {
    const cited = { correction_id, status_digest };
    const what = this.#random(8);
    if (what === 0) return;
    await client.ask({ type: "receive", correction_id });
    if (what === 1) return;
    if (what === 2) await client.ask({ type: "decline", ...cited, reason: "the file is generated" });
    else if (what === 3) await client.ask({ type: "ack", ...cited });
    else {
      const next_action = { summary: `take up ${correction_id}`, reflects: [correction_id] };
      await client.ask({ type: "ack", ...cited, next_action });
    }
  }

  /** An orchestrator that watches all workers and corrects them, several at once, not always rightly. */
  async #orchestrator(token: string): Promise<void> {
    const seen = new Map<string, Seen>();
    const client = await this.#connect(token, { role: "orchestrator" }, (frame) => {
      for (const view of [...((frame["rows"] ?? []) as Seen[]), frame as unknown as Seen]) {
        if (view.row !== undefined && view.status_digest !== undefined) seen.set(view.row.worker_id, view);
      }
    });
    await client.ask({ type: "watch" });
    const sent: Frame[] = [];
    const admitted: string[] = [];
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#corrects(client, seen, sent, admitted)));
  }

  async #corrects(client: LoadClient, seen: Map<string, Seen>, sent: Frame[], admitted: string[]): Promise<void> {
    while (client.open) {
      const view = [...seen.values()][this.#random(seen.size)];
      const id = admitted[this.#random(admitted.length)];
      const what = this.#random(10);
      if (view === undefined) await client.pushes();
      else if (what === 0 && id !== undefined) await client.ask({ type: "withdraw", correction_id: id });
      else if (what === 1 && id !== undefined) await client.ask({ type: "stage", correction_id: id });
      else {
        const again = what === 2 ? sent[this.#random(sent.length)] : undefined;
        const frame = again ?? this.#correct(view);
        if (again === undefined) sent.push(frame);
        const receipt = await client.ask(frame);
        if (receipt?.["verdict"] === "ALLOW") admitted.push(receipt["correction_id"] as string);
      }
    }
  }

  #correct({ row, status_digest }: Seen): Frame {
    const key = Array.from({ length: 4 }, () => this.#random(0x1_0000).toString(16)).join("-");
    return {
      type: "correct",
      worker_id: row.worker_id,
      ...SCOPE,
      ...(this.#random(12) === 0 && { lane: "another/lane" }),
      message: `Keep the names as they are (${key}).`,
      status_digest: this.#random(12) === 0 ? `sha256:${"0".repeat(64)}` : status_digest,
      key,
      ...(this.#random(6) === 0 && { freshness: "exact" }),
      ...(this.#random(6) === 0 && { priority: "halt" }),
    };
  }

  /** An auditor that follows the log from where it is. */
  async #auditor(token: string): Promise<void> {
    let size = 0;
    const client = await this.#connect(token, { role: "auditor" }, ({ cursor }) => {
      if (typeof cursor === "string") size = Number(cursor.split(".")[1]);
    });
    await client.ask({ type: "follow", after: size });
    while (client.open) await client.pushes();
  }

  /** An operator who makes tokens, one after the other. */
  async #administrator(): Promise<void> {
    for (let made = 0; made < 3 && !this.#stopped; made += 1) {
      const answer = await this.#broker
        .token({ role: "orchestrator", subject: "late", ...EVERYWHERE })
        .catch(() => undefined);
      if (answer === undefined) return;
      this.#book.granted(answer);
      this.#book.late = answer;
    }
  }

  async #connect(
    token: string,
    hello: Record<string, unknown>,
    also: (frame: Frame) => void = () => {},
  ): Promise<LoadClient> {
    const read = (frame: Frame): void => {
      this.#book.read(frame);
      also(frame);
      if (this.#due === undefined || this.#book.answers < this.#due.answers) return;
      const { act } = this.#due;
      this.#due = undefined;
      act();
    };
    const client = await LoadClient.connect(this.#broker.url, token, hello, read);
    if (client.welcomed) this.clients.add(client);
    if (this.#stopped) client.close();
    return client;
  }
}
