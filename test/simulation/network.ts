import type { OpenSocket, SocketEvents } from "../../src/client/socket.js";
import type { Random } from "../support/random.js";
import { Cable } from "./cable.js";

/** Where cables end: a broker that runs. */
export interface Landing {
  accept(cable: Cable): void;
}

/** Every connection there is, and what the schedule can do to them. */
export class Network {
  readonly cables = new Set<Cable>();
  /** Hosts from which nothing arrives, and to which nothing goes, for now. */
  readonly split = new Set<string>();
  /** The broker; undefined while none runs. */
  landing: Landing | undefined;
  /** Frames that were doubled on their way. */
  doubled = 0;

  connect(host: string, token: string, events: SocketEvents): Cable {
    const cable = new Cable(host, token, events);
    this.cables.add(cable);
    return cable;
  }

  opener(host: string): OpenSocket {
    return (_url, _subprotocol, token, events) => this.connect(host, token, events).socket;
  }

  /** Cables on which something can arrive now. */
  busy(): Cable[] {
    const busy: Cable[] = [];
    for (const cable of this.cables) {
      if (cable.done) this.cables.delete(cable);
      else if (!this.split.has(cable.host) && cable.up.length + cable.down.length > 0) busy.push(cable);
    }
    return busy;
  }

  /** A segment arrives: up to `most` things in one direction. Frames behind the first may be doubled. */
  segment(cable: Cable, most: number, random: Random, doubles: boolean): void {
    const upward = cable.down.length === 0 || (cable.up.length > 0 && random(2) === 0);
    for (let left = most; left > 0; left -= 1) {
      const twice = doubles && random(12) === 0;
      if (upward) this.#up(cable, twice);
      else cable.arrive(twice);
    }
  }

  #up(cable: Cable, twice: boolean): void {
    const { terminal } = cable;
    // Who does not read the answers is not read any further.
    if (cable.unread > 262_144) return;
    const next = cable.up.shift();
    if (next === undefined) return;
    if (next.kind === "connect") {
      if (this.landing === undefined) cable.answer("unreachable");
      else this.landing.accept(cable);
    } else if (terminal === undefined) {
      // The broker that held the other end is gone: its machine says so.
      if (cable.held && next.kind !== "close") cable.unplug();
    } else if (next.kind === "close") terminal.hangUp();
    else if (next.kind === "pong") terminal.pong();
    else this.#frame(cable, next.bytes, next.binary, twice);
  }

  // The first frame is `hello`, which may come once only.
  #frame(cable: Cable, bytes: Uint8Array, binary: boolean, twice: boolean): void {
    cable.terminal?.message(bytes, binary);
    if (!twice || cable.frames === 0) return void (cable.frames += 1);
    this.doubled += 1;
    cable.terminal?.message(bytes, binary);
  }

  /** A process is gone with all its connections. */
  abandon(host: string, silently: boolean): void {
    for (const cable of this.cables) if (cable.host === host && cable.held) cable.abandon(silently);
  }
}
