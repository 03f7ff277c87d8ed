import { EVERYWHERE, Serve, dataDirectory } from "./serve.js";
import { Wire, type Frame } from "./wire.js";

/** A broker that is a process of its own, with a token for one worker and one sender: it is killed and comes back. */
export class Served {
  readonly #directory: ReturnType<typeof dataDirectory>;
  readonly #tokens: { worker: string; lead: string };
  #serve: Serve;

  private constructor(
    directory: ReturnType<typeof dataDirectory>,
    serve: Serve,
    tokens: { worker: string; lead: string },
  ) {
    this.#directory = directory;
    this.#serve = serve;
    this.#tokens = tokens;
  }

  static async start(): Promise<Served> {
    const directory = dataDirectory();
    const serve = await Serve.start(directory.path);
    const worker = await serve.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const lead = await serve.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
    return new Served(directory, serve, { worker: worker.token, lead: lead.token });
  }

  /** The process that runs now. */
  get serve(): Serve {
    return this.#serve;
  }

  /** Ends the process as a power cut would, and starts another on what it left. */
  async killAndRestart(): Promise<void> {
    await this.#serve.kill();
    this.#serve = await Serve.start(this.#directory.path);
  }

  /** The same, but stopped in order. */
  async stopAndRestart(): Promise<void> {
    await this.#serve.stop();
    this.#serve = await Serve.start(this.#directory.path);
  }

  worker(): Promise<Wire & { welcome: Frame }> {
    return Wire.hello(this.#serve.url, this.#tokens.worker, { role: "worker", worker_id: "w-1" });
  }

  lead(hello: Record<string, unknown> = {}): Promise<Wire & { welcome: Frame }> {
    return Wire.hello(this.#serve.url, this.#tokens.lead, { role: "orchestrator", ...hello });
  }

  async end(): Promise<void> {
    await this.#serve.kill();
    this.#directory[Symbol.dispose]();
  }
}
