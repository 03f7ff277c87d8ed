import { Client, type Frame } from "./client.js";

const SUBPROTOCOLS = ["a2achan.v1.json"];

/** The sessions that a test opens by hand, dropped together when it ends. */
export class Sessions {
  readonly #clients: Client[] = [];

  /** Connects with a token in the upgrade's header and says nothing yet. */
  async connect(url: string, token: string): Promise<Client> {
    const came = await Client.connect(url, { authorization: `Bearer ${token}` }, SUBPROTOCOLS);
    if ("status" in came) throw new Error(`the upgrade was refused with ${came.status}`);
    this.#clients.push(came.client);
    return came.client;
  }

  /** Connects and takes a role. */
  async enter(url: string, token: string, hello: Frame): Promise<{ client: Client; welcome: Frame }> {
    const client = await this.connect(url, token);
    const welcome = await client.ask({ type: "hello", ...hello });
    if (welcome["type"] !== "welcome") throw new Error(`not welcomed: ${JSON.stringify(welcome)}`);
    return { client, welcome };
  }

  /** The status that an upgrade with this token is refused with; 101 when it is not. */
  async refusal(url: string, token: string): Promise<number> {
    const came = await Client.connect(url, { authorization: `Bearer ${token}` }, SUBPROTOCOLS);
    if ("status" in came) return came.status;
    came.client.drop();
    return 101;
  }

  drop(): void {
    for (const client of this.#clients.splice(0)) client.drop();
  }
}
