import { WebSocket } from "ws";

/** What a side tells of the cycles that run on it; workers are numbers from 0. */
export interface Listener {
  /** The worker has its correction. */
  delivered(worker: number): void;
  /** The sender knows that it was witnessed. */
  witnessed(worker: number): void;
  /** Nothing of this cycle is on its way any more. */
  settled(worker: number): void;
  failed(error: Error): void;
}

/** One of the servers that are compared, with every connection to it. */
export interface Side {
  readonly workers: number;
  listener: Listener;
  /** The worker's sender corrects it. */
  correct(worker: number): void;
  /** The worker acknowledges what was delivered last, with the planned action that names it. */
  ack(worker: number): void;
  /** Microseconds of CPU that the server has used so far. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

/** Bytes of the frames of one cycle, as the broker and its clients write them. */
export interface FrameSizes {
  correct: number;
  receipt: number;
  delivery: number;
  ack: number;
  reply: number;
  delivered: number;
  acked: number;
  witnessed: number;
}

export const NO_LISTENER: Listener = {
  delivered: () => {},
  witnessed: () => {},
  settled: () => {},
  failed: (error) => {
    throw error;
  },
};

const AT_ONCE = 64;

/** Opens one connection for each of `targets`, a few at once. */
export async function openAll(
  targets: readonly { url: string; token?: string }[],
  subprotocol?: string,
): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  for (let at = 0; at < targets.length; at += AT_ONCE) {
    const opening = targets.slice(at, at + AT_ONCE).map(({ url, token }) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const options = { headers, perMessageDeflate: false, skipUTF8Validation: true };
      return opened(new WebSocket(url, subprotocol === undefined ? [] : [subprotocol], options));
    });
    sockets.push(...(await Promise.all(opening)));
  }
  return sockets;
}

function opened(socket: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("open", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}
