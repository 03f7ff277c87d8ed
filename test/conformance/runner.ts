import { LIMITS } from "../../src/protocol/index.js";
import { randomBytes } from "node:crypto";
import { Client, type Frame } from "./client.js";
import { subprotocolOf, type CodecName } from "./codec.js";
import { mismatch, resolve, type Vars } from "./pattern.js";
import type { Common, Save, Scenario, Step } from "./scenario.js";

/** A broker under test: where it is, and a token for each name of README.md. */
export interface Target {
  url: string;
  tokens: Readonly<Record<string, string>>;
}

/** Plays scenarios against one broker, one at a time; each gets workers and orchestrators that have rested longest. */
export class Runner {
  readonly #target: Target;
  readonly #common: Common;
  /** When each member of the pools was last on stage. */
  readonly #usedUntil = new Map<string, number>();
  readonly #pools: Readonly<Record<string, string[]>>;

  constructor(target: Target, common: Common) {
    this.#target = target;
    this.#common = common;
    const names = Object.keys(target.tokens);
    this.#pools = {
      w: names.filter((name) => /^worker-\d+$/.test(name)),
      o: names.filter((name) => /^orchestrator-\d+$/.test(name)),
    };
  }

  /** Throws with the step and what was wrong when the broker does not behave as the scenario says. */
  async play(scenario: Scenario, codec: CodecName): Promise<void> {
    const vars = this.#cast(scenario);
    const cast = [...vars.values()].map(String);
    await this.#rested(cast);
    vars.set("subprotocol", subprotocolOf(codec));
    const play = new Play(this.#target, this.#common, vars);
    try {
      await play.rest();
      await play.run(scenario.steps);
    } finally {
      play.end();
      for (const member of cast) this.#usedUntil.set(member, performance.now());
    }
  }

  /** The broker's own windows run in real time: whoever was on stage within the last of them waits for its end. */
  async #rested(cast: readonly string[]): Promise<void> {
    const since = Math.max(...cast.map((member) => this.#usedUntil.get(member) ?? Number.NEGATIVE_INFINITY));
    const left = since + LIMITS.rate_window_ms - performance.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  #cast(scenario: Scenario): Vars {
    const vars: Vars = new Map<string, unknown>([["run", `run-${randomBytes(6).toString("hex")}`]]);
    // The shared frames and routines speak of w1 and o1.
    const roles = ["w1", "o1", ...(JSON.stringify(scenario.steps).match(/(?<![A-Za-z0-9])[wo][1-9]\b/g) ?? [])];
    for (const role of new Set(roles)) {
      const pool = this.#pools[role.charAt(0)] ?? [];
      const member = pool.shift();
      if (member === undefined) throw new Error(`the tokens file has too few names for ${role}`);
      pool.push(member);
      vars.set(role, member);
    }
    return vars;
  }
}

class Play {
  readonly #target: Target;
  readonly #common: Common;
  readonly #vars: Vars;
  readonly #clients = new Map<string, Client>();

  constructor(target: Target, common: Common, vars: Vars) {
    this.#target = target;
    this.#common = common;
    this.#vars = vars;
  }

  /** Lets each worker of the scenario say bye, so that nothing is open and no row live from an earlier one. */
  async rest(): Promise<void> {
    for (const name of [...this.#vars.keys()].filter((role) => /^w[1-9]$/.test(role))) {
      await this.run([
        { open: name },
        { send: name, frame: { type: "bye" }, expect: { type: "ok" } },
        { closed: name, code: 1000 },
      ]);
    }
  }

  async run(steps: readonly Step[], within = ""): Promise<void> {
    for (const [at, step] of steps.entries()) {
      const where = `${within}step ${at + 1}`;
      if ("do" in step) {
        await this.run(this.#routine(step.do), `${where} (${step.do}) `);
      } else if ("repeat" in step) {
        for (let turn = 1; turn <= step.repeat; turn += 1) {
          this.#vars.set(step.as, turn);
          await this.run(step.steps, `${where}, turn ${turn}, `);
        }
      } else {
        try {
          await this.#step(step);
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error);
          throw new Error(`${where}: ${why}\n${JSON.stringify(step)}`, { cause: error });
        }
      }
    }
  }

  end(): void {
    for (const client of this.#clients.values()) client.drop();
  }

  #routine(name: string): Step[] {
    const steps = this.#common.routines[name];
    if (steps === undefined) throw new Error(`there is no routine ${name}`);
    return steps;
  }

  async #step(step: Exclude<Step, { do: string } | { repeat: number }>): Promise<void> {
    if ("open" in step) return this.#open(step);
    if ("send" in step) {
      const client = this.#client(step.send);
      const id = step.as === undefined ? {} : { id: this.#resolve(step.as) };
      const sent = client.send({ ...(this.#resolve(step.frame) as Frame), ...id });
      return step.expect === undefined ? undefined : this.#check(await client.reply(sent), step.expect, step.save);
    }
    if ("reply" in step) {
      const frame = await this.#client(step.reply).reply(this.#resolve(step.to) as string);
      const bytes = Buffer.byteLength(JSON.stringify(frame));
      const most = step.bytes_at_most ?? Number.POSITIVE_INFINITY;
      if (bytes > most) throw new Error(`the reply has ${bytes} bytes, more than ${most}`);
      return this.#check(frame, step.expect ?? {}, step.save);
    }
    if ("push" in step) {
      const frame = await this.#client(step.push).push(typeOf(step.expect));
      return this.#check(frame, step.expect, step.save);
    }
    if ("raw" in step) {
      const client = this.#client(step.raw);
      if (step.frame !== undefined) return client.say(this.#resolve(step.frame));
      const data =
        step.base64 === undefined
          ? (this.#resolve(step.text) as string)
          : Buffer.from(this.#resolve(step.base64) as string, "base64");
      return client.raw(data, step.binary);
    }
    if ("none" in step) {
      const client = this.#client(step.none);
      await client.barrier();
      const found = client.pushes.find((push) => mismatch(step.expect, push, this.#vars) === undefined);
      if (found !== undefined) throw new Error(`there was to be no such push: ${JSON.stringify(found)}`);
      return;
    }
    if ("closed" in step) {
      const { code, reason } = await this.#client(step.closed).end();
      return this.#check({ code, reason }, { code: step.code, reason: step.reason ?? "$any" });
    }
    if ("check" in step) return this.#fail(mismatch(step.expect, this.#resolve(step.check), this.#vars));
    if ("close" in step) return this.#client(step.close).close();
    this.#client(step.drop).drop();
  }

  async #open(step: Extract<Step, { open: string }>): Promise<void> {
    const name = step.token === undefined ? step.open : step.token;
    const token = name === null ? {} : { authorization: `Bearer ${this.#token(name)}` };
    const headers = { ...token, ...(this.#resolve(step.headers ?? {}) as Record<string, string>) };
    const url = `${this.#target.url}${this.#resolve(step.query ?? "") as string}`;
    const subprotocols = this.#resolve(step.subprotocols ?? ["$subprotocol"]) as string[];
    const came = await Client.connect(url, headers, subprotocols);
    if ("status" in came) {
      if (came.status === step.refused) return;
      throw new Error(`the upgrade was refused with ${came.status}`);
    }
    this.#clients.set(step.open, came.client);
    if (step.refused !== undefined) throw new Error("the upgrade was not refused");
    const selected = this.#resolve(step.selected ?? "$subprotocol");
    if (came.client.subprotocol !== selected) throw new Error(`the subprotocol is ${came.client.subprotocol}`);
    if (step.hello === null) return;
    const hello = { type: "hello", ...this.#roleOf(name), ...(this.#resolve(step.hello ?? {}) as Frame) };
    const reply = await came.client.reply(came.client.send(hello));
    this.#check(reply, { type: "welcome", ...step.expect }, step.save);
  }

  /** The role that the token of a name is for, and for a worker its id. */
  #roleOf(name: string | null): Frame {
    const subject = this.#subject(name ?? "");
    if (subject.startsWith("worker-")) return { role: "worker", worker_id: subject };
    return { role: subject.startsWith("auditor") ? "auditor" : "orchestrator" };
  }

  #subject(name: string): string {
    const cast = this.#vars.get(name);
    return typeof cast === "string" && /^[wo][1-9]$/.test(name) ? cast : name;
  }

  #token(name: string): string {
    const token = this.#target.tokens[this.#subject(name)];
    if (token === undefined) throw new Error(`the tokens file has no ${this.#subject(name)}`);
    return token;
  }

  #client(name: string): Client {
    const client = this.#clients.get(name);
    if (client === undefined) throw new Error(`the scenario has not opened ${name}`);
    return client;
  }

  #resolve(value: unknown): unknown {
    return resolve(value, this.#withTokens(), this.#common.frames);
  }

  // `$token_NAME` is the token of that name, for the scenarios about where a token may stand.
  #withTokens(): Vars {
    const vars: Vars = new Map(this.#vars);
    for (const name of [...Object.keys(this.#target.tokens), ...this.#vars.keys()]) {
      const token = this.#target.tokens[this.#subject(name)];
      if (token !== undefined) vars.set(`token_${name.replace(/[-/]/g, "_")}`, token);
    }
    return vars;
  }

  #check(frame: Frame, expect: Frame, save: Save = {}): void {
    this.#fail(mismatch(expect, frame, this.#vars));
    for (const [name, path] of Object.entries(save)) this.#vars.set(name, valueAt(frame, path));
  }

  #fail(why: string | undefined): void {
    if (why !== undefined) throw new Error(why);
  }
}

function typeOf(expect: Frame): unknown {
  return expect["type"] ?? (expect["$exact"] as Frame | undefined)?.["type"];
}

function valueAt(frame: unknown, path: string): unknown {
  return path === "" ? frame : path.split(".").reduce((value, name) => (value as Frame | undefined)?.[name], frame);
}
