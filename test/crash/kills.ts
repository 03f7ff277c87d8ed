import { watch } from "node:fs";
import { randomFrom, type Random } from "../support/random.js";
import { Serve, dataDirectory, operatorToken, serveProgram } from "../support/serve.js";
import { AuditedLog } from "./audit.js";
import { Book } from "./book.js";
import { inspect, inspectDrained } from "./inspect.js";
import { Load, provideCast, type Cast } from "./load.js";

export interface KillFigures {
  kills: number;
  /** Of them, those while the broker was starting. */
  atStart: number;
  /** Answers that clients read, and what was checked because of them. */
  answers: number;
  claims: number;
  entries: number;
  admitted: number;
  witnessed: number;
  /** What was not as promised: empty, or the harness has found a fault. */
  faults: string[];
}

/** A log lives through so many kills before a new one is begun. */
const KILLS_A_LOG = 20;
const MOST_ANSWERS = 160;

/** Kills a broker under load `kills` times, and looks each time at what it left. */
export async function runKills(seed: number, kills: number, tell: (line: string) => void): Promise<KillFigures> {
  const figures: KillFigures = {
    kills: 0,
    atStart: 0,
    answers: 0,
    claims: 0,
    entries: 0,
    admitted: 0,
    witnessed: 0,
    faults: [],
  };
  const random = randomFrom(seed);
  while (figures.kills < kills && figures.faults.length === 0) {
    const campaign = new Campaign(random, figures);
    await campaign.run(Math.min(KILLS_A_LOG, kills - figures.kills));
    tell(`${figures.kills} kills, ${figures.answers} answers, ${figures.faults.length} faults`);
  }
  return figures;
}

/** The life of one log. */
class Campaign {
  readonly #random: Random;
  readonly #figures: KillFigures;
  readonly #book = new Book();
  #seqs = new Map<string, number>();

  constructor(random: Random, figures: KillFigures) {
    this.#random = random;
    this.#figures = figures;
  }

  async run(kills: number): Promise<void> {
    using directory = dataDirectory();
    let broker = await Serve.start(directory.path);
    const cast = await provideCast(broker, this.#book);
    for (let kill = 0; kill < kills; kill += 1) {
      await this.#kill(broker, cast);
      while (kill + 1 < kills && this.#random(8) === 0) {
        await this.#killStarting(directory.path);
        kill += 1;
      }
      broker = await Serve.start(directory.path);
      const drains = this.#random(2) === 0 || kill + 1 === kills;
      await this.#check(broker, cast, drains);
      if (this.#figures.faults.length > 0) break;
    }
    const log = await AuditedLog.read(broker.url, operatorToken(directory.path));
    const figures = this.#figures;
    figures.answers += this.#book.answers;
    figures.entries += log.lines.length;
    figures.admitted += log.count("admitted");
    figures.witnessed += log.count("witnessed");
    const ended = await broker.stop();
    if (ended.code !== 0) figures.faults.push(`the broker ended with ${ended.code} in the end: ${ended.stderr}`);
  }

  /** Kills a broker at the n-th answer that its clients read. */
  async #kill(broker: Serve, cast: Cast): Promise<void> {
    this.#figures.kills += 1;
    const answers = this.#random(MOST_ANSWERS);
    if (answers > 0) await new Load(broker, cast, this.#book, this.#random).run(answers, () => void broker.kill());
    await broker.kill();
  }

  /** Kills a broker while it takes up its log: when it has opened its control socket, which it does before. */
  async #killStarting(data: string): Promise<void> {
    this.#figures.kills += 1;
    this.#figures.atStart += 1;
    const watcher = watch(data);
    const opens = new Promise<void>((resolve) => {
      watcher.on("change", (_type, name) => {
        if (name === "control.sock") resolve();
      });
    });
    const program = serveProgram(data);
    await Promise.race([opens, program.line()]);
    watcher.close();
    await program.kill();
  }

  /** Compares what a broker that has just started knows with what was answered before it died. */
  async #check(broker: Serve, cast: Cast, drains: boolean): Promise<void> {
    const { faults } = this.#figures;
    this.#figures.claims += this.#book.claims.length;
    const { log, lost, ...found } = await inspect(broker, this.#book.claims, this.#book.late);
    faults.push(...lost, ...found.faults);
    const seqs = log.seqs();
    for (const [worker, seq] of this.#seqs) {
      if ((seqs.get(worker) ?? 0) < seq) faults.push(`seq of ${worker} went back behind ${seq}`);
    }
    this.#seqs = seqs;
    if (drains) faults.push(...(await inspectDrained(broker, cast, log)));
  }
}
