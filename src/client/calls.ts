import type { Codec } from "../codec/codec.js";
import type { Reply } from "../protocol/index.js";
import { A2achanError } from "./errors.js";
import { ANSWERS, writeFrame, type AnswerTo, type Ask, type AskType, type Written } from "./frames.js";
import { localRefusal } from "./local-refusal.js";
import { refuseUnknownFields } from "./unknown-fields.js";

export interface AskOptions<T extends AskType> {
  /** Whether the request may be sent again after a reconnect; default: true. */
  again?: boolean;
  /** Sees each reply in the turn in which it comes, before what follows it; true: another comes with the same id. */
  heard?: (reply: AnswerTo<T>) => boolean;
}

/** A request on its way. */
export interface Asked<T extends AskType> {
  reply: Promise<AnswerTo<T>>;
  /** Nobody waits any more: what is not sent stays unsent, and an answer is dropped. */
  drop: () => void;
}

interface Pending {
  type: AskType;
  frame: Written;
  again: boolean;
  heard: ((reply: Reply) => boolean) | undefined;
  settle: (reply: Reply) => void;
  fail: (error: A2achanError) => void;
}

/** The requests of one client that are not answered yet, in the order in which they were made. */
export class Calls {
  readonly #pending = new Map<string, Pending>();
  readonly #codec: Codec;
  #made = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /**
   * Throws `bad_frame` for a field that the request cannot have. Without a `frame` there is nothing to send: the codec
   * has no form for one of its texts, and the reply is the refusal that the text would get in JSON.
   */
  make<T extends AskType>(
    ask: Ask<T> & { type: T },
    options: AskOptions<T> = {},
  ): Asked<T> & { id: string; frame: Written | undefined } {
    this.#made += 1;
    const id = `r${this.#made}`;
    const request = { ...ask, id };
    refuseUnknownFields(ask.type, request);
    const frame = writeFrame(this.#codec, request);
    const { again = true, heard } = options;
    if (frame === undefined) {
      const refused = localRefusal(request) as AnswerTo<T>;
      const reply = Promise.resolve(refused).then((answer) => {
        heard?.(answer);
        return answer;
      });
      return { id, frame, reply, drop: () => {} };
    }
    const reply = new Promise<AnswerTo<T>>((resolve, reject) => {
      this.#pending.set(id, {
        type: ask.type,
        frame,
        again,
        heard: heard as Pending["heard"],
        settle: resolve as Pending["settle"],
        fail: reject,
      });
    });
    return { id, frame, reply, drop: () => this.#pending.delete(id) };
  }

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Hands a reply to who asked; false when it is not of the type that was asked for. */
  settle(reply: Reply): boolean {
    const pending = this.#pending.get(reply.id);
    // Nobody waits for it any more.
    if (pending === undefined) return true;
    if (reply.type !== "refusal" && reply.type !== ANSWERS[pending.type]) return false;
    try {
      if (pending.heard?.(reply) === true) return true;
      pending.settle(reply);
    } catch (error) {
      pending.fail(error instanceof A2achanError ? error : new A2achanError("protocol", { cause: error }));
    }
    this.#pending.delete(reply.id);
    return true;
  }

  /** The connection is lost: fails what must not be sent twice. */
  lost(): void {
    for (const [id, { again, fail }] of this.#pending) {
      if (again) continue;
      this.#pending.delete(id);
      fail(new A2achanError("connection_lost"));
    }
  }

  /** What is to be sent on a new connection, byte for byte as before. */
  unanswered(): { id: string; frame: Written }[] {
    return [...this.#pending].map(([id, { frame }]) => ({ id, frame }));
  }

  fail(error: A2achanError): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const { fail } of all) fail(error);
  }
}
