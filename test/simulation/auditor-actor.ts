import { openAuditor, type Auditor } from "../../src/client/auditor.js";
import { isRefused } from "../../src/client/refusals.js";
import type { Random } from "../support/random.js";
import { ClientProcess, rarely, URL, type Surroundings } from "./surroundings.js";

/** An honest auditor, a real SDK one, that follows the log and holds it against what was written. */
export class AuditorActor {
  readonly subject: string;
  readonly #world: Surroundings;
  #process: ClientProcess | undefined;
  #over = true;
  #next = 0;

  constructor(subject: string, world: Surroundings) {
    this.subject = subject;
    this.#world = world;
  }

  get processes(): ClientProcess[] {
    return this.#process === undefined ? [] : [this.#process];
  }

  act(random: Random): string {
    if (!this.#over && !rarely(random, 20)) return `${this.subject} reads on`;
    this.#process?.kill(rarely(random, 40));
    return this.start();
  }

  start(): string {
    const process = new ClientProcess(this.#world, this.subject);
    this.#process = process;
    this.#over = false;
    const options = { url: URL, token: this.#world.tokens.get(this.subject) ?? "" };
    openAuditor(options, process.runtime).then(
      (auditor) => void this.#follow(process, auditor),
      () => (this.#over ||= this.#process === process),
    );
    return `${this.subject} follows from ${this.#next}`;
  }

  /** I1: whoever follows the log is given each entry once, in order, as it was written. */
  async #follow(process: ClientProcess, auditor: Auditor): Promise<void> {
    const { ledger, report } = this.#world;
    try {
      for await (const entry of auditor.follow({ after: this.#next })) {
        if (this.#process !== process) return;
        if (isRefused(entry)) break;
        if (entry.index !== this.#next) report("I1", `${this.subject} is given ${entry.index} after ${this.#next - 1}`);
        if (ledger.lines[entry.index] !== entry.line)
          report("I1", `entry ${entry.index} is read otherwise than written`);
        this.#next = entry.index + 1;
        this.#world.count("entries followed");
      }
    } catch {
      // It is over either way.
    }
    this.#over ||= this.#process === process;
  }

  /** I1: at the end it has been given everything. */
  i1Complete(): void {
    const { lines } = this.#world.ledger;
    if (!this.#over && this.#next < lines.length)
      this.#world.report("I1", `${this.subject} was given ${this.#next} of ${lines.length} entries`);
  }
}
