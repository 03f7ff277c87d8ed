import type { WebSocket } from "ws";
import type { Broker, Clock } from "../../src/broker/index.js";
import { jsonCodec } from "../../src/codec/json.js";
import { LIMITS, parseRequest, type Parsed } from "../../src/protocol/index.js";
import { Pings } from "../../src/transport/pings.js";
import type { Cable } from "./cable.js";
import type { Landing } from "./network.js";

/** Time that a closed connection has for its goodbye. */
const CLOSE_MS = 2_000;

export interface EdgeEvents {
  /** A client was taken on. */
  accepted(cable: Cable): void;
  /** A frame or a pong reached the broker. */
  heard(cable: Cable): void;
  /** A frame is about to be taken. */
  arrived(cable: Cable, parsed: Parsed | undefined): void;
  /** A handler threw, which none may. */
  threw(error: unknown): void;
}

/** The edge of a simulated broker: what `transport/ws-server` is over real sockets. */
export class Edge implements Landing {
  readonly #broker: Broker;
  readonly #clock: Clock;
  readonly #pings: Pings;
  readonly #events: EdgeEvents;

  constructor(broker: Broker, clock: Clock, events: EdgeEvents) {
    this.#broker = broker;
    this.#clock = clock;
    this.#pings = new Pings(clock, broker.limits);
    this.#events = events;
  }

  accept(cable: Cable): void {
    const proven = this.#broker.authenticate(cable.token);
    if (proven === undefined) return cable.answer("unauthenticated");
    let closing: Disposable | undefined;
    const socket = new PingSocket(cable, () => hangUp());
    cable.terminal = {
      message: (bytes, binary) => {
        pinged.missed = 0;
        this.#receive(() => {
          const parsed = this.#read(bytes, binary, connection.authenticated);
          // A connection that the broker has closed is no sign of life any more.
          if (closing === undefined) this.#events.heard(cable);
          this.#events.arrived(cable, parsed);
          connection.receive(parsed);
        });
      },
      pong: () => {
        if (closing === undefined) this.#events.heard(cable);
        alive();
      },
      hangUp: () => hangUp(),
    };
    this.#events.accepted(cable);
    const peer = cable.peer(() => (closing ??= this.#clock.at(CLOSE_MS, () => hangUp())));
    cable.answer("open");
    const connection = this.#broker.connect(peer, proven);
    const pinged = this.#pings.add(socket as unknown as WebSocket);
    const alive = (): void => {
      pinged.missed = 0;
      connection.alive();
    };
    const hangUp = (): void => {
      if (cable.terminal === undefined) return;
      this.#pings.remove(pinged);
      closing?.[Symbol.dispose]();
      cable.unplug();
      this.#receive(() => this.#broker.disconnect(connection));
    };
  }

  #read(bytes: Uint8Array, binary: boolean, authenticated: boolean): Parsed | undefined {
    if (binary || (!authenticated && bytes.length > LIMITS.hello_bytes)) return undefined;
    const decoded = jsonCodec.decode(bytes);
    return decoded.ok ? parseRequest(decoded.value, decoded.fault) : undefined;
  }

  #receive(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#events.threw(error);
    }
  }
}

/** As much of a WebSocket as `Pings` wants. */
class PingSocket {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly terminate: () => void;
  readonly #cable: Cable;

  constructor(cable: Cable, terminate: () => void) {
    this.#cable = cable;
    this.terminate = terminate;
  }

  ping(): void {
    this.#cable.answer("ping");
  }
}
