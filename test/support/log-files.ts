/** Gets what lies below a broker's `/log`, with a token if there is one. */
export class LogFiles {
  readonly #http: string;
  readonly #headers: Record<string, string>;

  constructor(http: string, token?: string) {
    this.#http = http;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  get(path: string): Promise<Response> {
    return fetch(`${this.#http}/log/${path}`, { headers: this.#headers });
  }

  /** The body of a path that is there. */
  async bytes(path: string): Promise<Buffer> {
    const response = await this.get(path);
    if (response.status !== 200) throw new Error(`${path}: HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  }
}

/** The entries of a bundle: each behind its length in two bytes (C2SP tlog-tiles). */
export function entriesOf(bundle: Buffer): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + bundle.readUInt16BE(at);
    entries.push(bundle.toString("utf8", at + 2, end));
    at = end;
  }
  return entries;
}

/** Fills a worker's log with `count` entries or a few more: statuses, each another row. */
export async function fill(
  worker: { ask(frame: { type: string } & Record<string, unknown>): Promise<unknown> },
  advance: (ms: number) => void,
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    if (at % 10 === 0) advance(1_000);
    const next_action = { summary: `a secret plan, number ${at}` };
    await worker.ask({ type: "status", issue: "7", lane: "src", task_id: `t-${at}`, next_action });
  }
}
