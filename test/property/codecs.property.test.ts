import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Connection, Outgoing, Peer } from "../../src/broker/index.js";
import type { Codec } from "../../src/codec/codec.js";
import { jsonCodec } from "../../src/codec/json.js";
import { msgpackCodec } from "../../src/codec/msgpack.js";
import { parseRequest } from "../../src/protocol/index.js";
import { MemoryStore } from "../../src/storage/memory.js";
import { LocalBroker, turn } from "../support/local.js";
import { writeMsgpack } from "../support/msgpack.js";
import { randomFrom } from "../support/random.js";
import { SCOPE } from "../support/scenes.js";

type Fields = Record<string, unknown>;
type Write = (value: unknown) => Uint8Array;

/** One codec, and a writer that is not its own: it also writes what no frame may hold. */
interface Way {
  codec: Codec;
  write: Write;
}

const json: Way = { codec: jsonCodec, write: (value) => Buffer.from(jsonOf(value)) };

/** MessagePack in formats drawn from a seed. */
function msgpack(seed: number): Way {
  const random = randomFrom(seed);
  return { codec: msgpackCodec, write: (value) => writeMsgpack(value, random) };
}

/** JSON.stringify writes -0 as 0 and no bigint. */
function jsonOf(value: unknown): string {
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === "bigint") return `<${item}>`;
    return Object.is(item, -0) ? "<-0>" : item;
  });
  return text.replace(/"<(-?\d+)>"/g, "$1");
}

/** A client whose frames go through a codec on both ways. */
class CodedClient implements Peer {
  readonly frames: Fields[] = [];
  readonly buffered = 0;
  readonly #way: Way;
  readonly #connection: Connection;

  constructor(local: LocalBroker, way: Way, hello: Fields) {
    this.#way = way;
    this.#connection = local.broker.connect(this);
    this.say({ type: "hello", id: "hello", ...hello });
  }

  say(value: unknown): void {
    const decoded = this.#way.codec.decode(this.#way.write(value));
    this.#connection.receive(decoded.ok ? parseRequest(decoded.value, decoded.fault) : undefined);
  }

  send(out: Outgoing): void {
    const encoded = out.as(this.#way.codec.encode);
    const decoded = this.#way.codec.decode(Buffer.from(encoded as Uint8Array));
    if (!decoded.ok || decoded.fault !== undefined) throw new Error("the broker sent no frame of the profile");
    // Pages are measured as JSON: in another codec they keep to their limit only because it is no longer.
    if (encoded.length > Buffer.byteLength(JSON.stringify(out.frame))) throw new Error("longer than its JSON");
    // What chance or the log's name decides.
    const { session: _session, cursor: _cursor, log: _log, ...frame } = decoded.value as Fields;
    this.frames.push(frame);
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  close({ code }: { code: number }): void {
    this.frames.push({ closed: code });
  }
}

/** Plays the frames over one codec: what worker and orchestrator were sent, in order. */
async function play(way: Way, moves: readonly Move[]): Promise<Fields[][]> {
  const local = await LocalBroker.open({ store: new MemoryStore() });
  const tokens = { worker: await local.workerToken("w-1"), orchestrator: await local.orchestratorToken("orch") };
  const clients: CodedClient[] = [];
  const connect = (role: "worker" | "orchestrator"): CodedClient => {
    const hello = { role, token: tokens[role], ...(role === "worker" && { worker_id: "w-1" }) };
    const client = new CodedClient(local, way, hello);
    clients.push(client);
    return client;
  };
  const at = { worker: connect("worker"), orchestrator: connect("orchestrator") };
  await turn();
  for (const [index, { role, frame }] of moves.entries()) {
    local.clock.advance(100);
    if (at[role].frames.at(-1)?.["closed"] !== undefined) at[role] = connect(role);
    at[role].say(filled({ id: `r${index}`, ...frame }, clients));
    await turn();
  }
  await local.stop();
  return clients.map(({ frames }) => frames);
}

/** Puts in what only the broker's answers tell: the digest and the correction that came last. */
function filled(frame: Fields, clients: readonly CodedClient[]): Fields {
  const last = (name: string): unknown =>
    clients
      .flatMap(({ frames }) => frames)
      .map((came) => came[name])
      .findLast((value) => value !== undefined);
  const put = (value: unknown): unknown => {
    if (value === DIGEST) return last("status_digest") ?? "none";
    if (value === CORRECTION) return last("correction_id") ?? "none";
    if (Array.isArray(value)) return value.map(put);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, put(member)]));
  };
  return put(frame) as Fields;
}

const DIGEST = "<digest>";
const CORRECTION = "<correction>";

interface Move {
  role: "worker" | "orchestrator";
  frame: Fields;
}

const OFF_NUMBERS = [-0, 1.5, 2 ** 53, -(2 ** 53), 1e300, 2n ** 63n];
const OFF_TEXTS = [
  "",
  " ",
  "a\u202eb",
  "a\u0000b",
  "x".repeat(1_100),
  "\ufeff",
  "\ufeff".repeat(40),
  `\ufeff${"y".repeat(90)}`,
];
const OFF_SHAPES = [null, true, [], {}, [[[[[[[1]]]]]]], [[[[[[[[1]]]]]]]], { a: { b: [-0] } }];
const off = fc.constantFrom<unknown>(...OFF_NUMBERS, ...OFF_TEXTS, ...OFF_SHAPES);
const text = fc.constantFrom<unknown>("read the issue", "wrote a test", "é😀", "x".repeat(300));
const digest = fc.constantFrom<unknown>(DIGEST, DIGEST, DIGEST, "sha256:0", "\ufeff".repeat(30));
const id = fc.constantFrom<unknown>(CORRECTION, CORRECTION, `corr_${"0".repeat(32)}`, "mine");
const plan = fc.record(
  { summary: text, reflects: fc.constantFrom<unknown>([], ["mine"], [`corr_${"0".repeat(32)}`]) },
  { requiredKeys: ["summary"] },
);
const whole = fc.constantFrom<unknown>(1, 2, 127, 1_024, 60_000, 3_600_000, 2 ** 40, 2 ** 53 - 1, -1);

/** A frame of a type; now and then a field is off, missing or too much. */
function frameOf(role: Move["role"], type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Move> {
  const names = [...Object.keys(fields), "id", "type", "extra"];
  const slip = fc.option(fc.tuple(fc.constantFrom(...names), off), { freq: 2, nil: undefined });
  return fc.tuple(fc.record(fields, { requiredKeys: [] }), slip).map(([given, slipped]) => {
    const frame: Fields = { type, ...given };
    if (slipped !== undefined) frame[slipped[0]] = slipped[1];
    return { role, frame };
  });
}

const issue = fc.constantFrom<unknown>(SCOPE.issue, SCOPE.issue, SCOPE.issue, "7");
const lane = fc.constant<unknown>(SCOPE.lane);
const move: fc.Arbitrary<Move> = fc.oneof(
  frameOf("worker", "status", { issue, lane, last_action: text, next_action: plan, expect_seq: whole }),
  fc
    .record({ last_action: text })
    .map((given): Move => ({ role: "worker", frame: { type: "status", ...SCOPE, ...given } })),
  frameOf("worker", "receive", { correction_id: id }),
  frameOf("worker", "ack", { correction_id: id, status_digest: digest, next_action: plan }),
  frameOf("worker", "decline", { correction_id: id, status_digest: digest, reason: text }),
  frameOf("orchestrator", "correct", {
    worker_id: fc.constant<unknown>("w-1"),
    issue,
    lane,
    message: text,
    status_digest: digest,
    max_bytes: whole,
    ttl_ms: whole,
  }),
  text.map((message): Move => ({
    role: "orchestrator",
    frame: { type: "correct", worker_id: "w-1", ...SCOPE, message, status_digest: DIGEST },
  })),
  frameOf("orchestrator", "stage", { correction_id: id }),
  frameOf("orchestrator", "get", { worker_id: fc.constantFrom<unknown>("w-1", "w-2") }),
  frameOf("orchestrator", "list", {
    limit: whole,
    filter: fc.constantFrom<unknown>({}, { live: true }, { lane: "x" }),
  }),
  frameOf("orchestrator", "watch", {}),
);

/** A correction that is obeyed, which moves drawn one by one seldom come to. */
const story: readonly Move[] = [
  { role: "worker", frame: { type: "status", ...SCOPE, last_action: "began" } },
  {
    role: "orchestrator",
    frame: { type: "correct", worker_id: "w-1", ...SCOPE, message: "Stop.", status_digest: DIGEST },
  },
  { role: "worker", frame: { type: "receive", correction_id: CORRECTION } },
  {
    role: "worker",
    frame: {
      type: "ack",
      correction_id: CORRECTION,
      status_digest: DIGEST,
      next_action: { summary: "stop", reflects: [CORRECTION] },
    },
  },
];

/** A frame of each other kind of answer: what chance comes to in most runs, this comes to in every one. */
const tour: readonly Move[] = [
  ...story,
  {
    role: "orchestrator",
    frame: { type: "correct", worker_id: "w-1", ...SCOPE, message: "Go on.", status_digest: "sha256:0" },
  },
  { role: "orchestrator", frame: { type: "correct", worker_id: "w-1", ...SCOPE, status_digest: DIGEST, extra: 1 } },
  { role: "orchestrator", frame: { type: "list" } },
  { role: "worker", frame: { type: "status", ...SCOPE, last_action: "x", extra: 1 } },
  { role: "worker", frame: { type: "status", ...SCOPE, last_action: [[[[[[[[1]]]]]]]] } },
];
const moves = fc
  .array(fc.oneof({ weight: 12, arbitrary: move.map((one) => [one]) }, { weight: 1, arbitrary: fc.constant(story) }), {
    minLength: 1,
    maxLength: 25,
  })
  .map((parts) => parts.flat());

describe("frames over either codec", () => {
  it("get the same rows, digests, verdicts, stages, refusals and closes [A2C-FRM-03] [A2C-FRM-45]", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(moves, fc.nat(), async (script, seed) => {
        const over = await play(json, script);
        expect(await play(msgpack(seed), script)).toStrictEqual(over);
        for (const frame of over.flat()) {
          const { type, verdict, stage, detail, closed } = frame as Record<string, string | undefined>;
          seen.add([type, verdict, stage, detail, closed].filter((part) => part !== undefined).join(" "));
        }
      }),
      { numRuns: 150, examples: [[[...tour], 1]] },
    );
    // The law says nothing about what never came.
    const kinds = [
      "row",
      "receipt ALLOW ADMITTED",
      "receipt DENY SHAPE",
      "receipt DENY DIGEST",
      "refusal SHAPE",
      "4400",
    ];
    expect([...seen]).toEqual(
      expect.arrayContaining([...kinds, "correction", "rows", "stage DELIVERED", "stage WITNESSED"]),
    );
  }, 120_000);
});
