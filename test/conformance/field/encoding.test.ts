import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRefused, type WorkerStatus } from "../../../src/client/index.js";
import { Scene, WHERE, ackOf, correctionOf, delivered, statusOf } from "./support/scene.js";

let scene: Scene;

beforeEach(async () => {
  scene = await Scene.open();
});

afterEach(() => scene.close());

const ENCODING = { reason: "MALFORMED", detail: "TEXT_ENCODING" };
const HIDDEN = { reason: "MALFORMED", detail: "TEXT_HIDDEN" };

describe("a text that is broken or hides something", () => {
  it("U01: refuses half of a surrogate pair at the edge, wherever it stands, and the worker goes on", async () => {
    const { broker, worker, orchestrator, digest } = scene;
    const id = await scene.admit("before");
    for (const half of ["bad \ud800 half", "\udc00", "😀\ud83d", "\udc00\ud800"]) {
      expect(await orchestrator.ask(correctionOf(digest, half))).toMatchObject({ verdict: "DENY", ...ENCODING });
      expect(await worker.ask(statusOf(half))).toMatchObject(ENCODING);
      const plan = { next_action: { summary: half, reflects: [id] } };
      expect(await worker.ask(ackOf(id, digest, plan))).toMatchObject(ENCODING);
      const decline = { type: "decline", correction_id: id, status_digest: digest, reason: half };
      expect(await worker.ask(decline)).toMatchObject(ENCODING);
    }
    expect(await orchestrator.ask(correctionOf(digest, "fine", { key: "\ud800" }))).toMatchObject(ENCODING);
    // As raw bytes it is no text at all: that connection ends, and no other.
    const raw = await broker.orchestrator("O1");
    const [before = "", after = ""] = JSON.stringify({ ...correctionOf(digest, "?"), id: "1" }).split("?");
    raw.raw(Buffer.concat([Buffer.from(before), Buffer.of(0xed, 0xa0, 0x80), Buffer.from(after)]));
    expect(await raw.closed).toMatchObject({ code: 4400 });

    const sdk = await scene.sdkOrchestrator();
    const { row } = (await scene.view()) as unknown as { row: WorkerStatus };
    expect(await sdk.correct(row, "bad \ud800 half")).toMatchObject({ verdict: "DENY", ...ENCODING });
    expect(await sdk.correct(row, "fine")).toMatchObject({ verdict: "ALLOW" });
    expect((await delivered(worker)).map(({ message }) => message)).toEqual(["before", "fine"]);
    expect(await worker.ask(ackOf(id, digest))).toMatchObject({ stage: "ACKED" });
    expect(await scene.view()).toMatchObject({ status_digest: digest });
    await broker.entries();
  });

  it("U02: refuses tag characters and bidi overrides, strips nothing, and passes Persian and emoji joiners", async () => {
    const { worker, orchestrator, digest } = scene;
    const hidden = [
      "ok\u{e0069}\u{e0067}\u{e006e}",
      "safe \u202egnp.exe",
      "a\u2066b\u2069",
      "\u200elike this",
      "zero\u200bwidth",
      "soft\u00adhyphen",
      "a\u200db",
      "\ufeffbom",
      "a\u0000b",
      "line\r\n",
      "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}",
      "x\ufe0f",
      "a\u3164b",
      "a\u2028b",
      "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    ];
    for (const text of hidden) {
      const refused = await orchestrator.ask(correctionOf(digest, text));
      expect(refused, JSON.stringify(text)).toMatchObject({ verdict: "DENY", ...HIDDEN });
      expect(await worker.ask(statusOf(text)), JSON.stringify(text)).toMatchObject(HIDDEN);
    }
    expect(await delivered(worker)).toEqual([]);
    const shown = [
      "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
      "❤\ufe0f क्\u200dष",
      "a\n\tb",
      "  padded  ",
      "e\u0301 and é",
    ];
    for (const text of shown) await scene.admit(text);
    expect((await delivered(worker)).map(({ message }) => message)).toEqual(shown);
    for (const text of shown) expect(await worker.ask(statusOf(text))).toMatchObject({ row: { last_action: text } });
  });
});

describe("law: what is admitted is delivered as it was sent, and the rest is refused", () => {
  it("whatever text is sent, by the SDK to the SDK, and neither connection is lost", async () => {
    const worker = await scene.sdkWorker();
    const orchestrator = await scene.sdkOrchestrator();
    const special = fc.constantFrom(
      "\u200d",
      "\u200c",
      "\ufe0f",
      "\u{e0061}",
      "\u202e",
      "\u0301",
      "\ud83d",
      "\udc00",
      "\0",
      "\r",
    );
    const plain = fc.constantFrom("x", " ", "\n", "é", "ی", "क", "❤", "👨", '"', "\\", "</script>", "\u{10ffff}");
    const text = fc.array(
      fc.oneof(special, { weight: 3, arbitrary: plain }, fc.string({ unit: "binary", maxLength: 2 })),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        scene.broker.clock.advance(1_000);
        const message = parts.join("");
        const answer = await worker.status({ ...WHERE, last_action: message });
        const said = isRefused(answer) ? [answer.reason, answer.detail === "TEXT_ENCODING"] : answer.row.last_action;
        expect(said).toEqual(isRefused(answer) ? ["MALFORMED", !message.isWellFormed()] : message);
        const held = await orchestrator.get("W1");
        if (held === undefined || isRefused(held)) throw new Error("no row");
        const receipt = await orchestrator.correct(held, message);
        // The worker's text and the orchestrator's are judged alike.
        expect(receipt.verdict).toBe(isRefused(answer) ? "DENY" : "ALLOW");
        if (receipt.verdict === "ALLOW") sent += 1;
        await worker.status({ ...WHERE, last_action: "plan A" });
        const taken = await worker.take();
        expect(taken.map((correction) => correction.message)).toEqual(receipt.verdict === "ALLOW" ? [message] : []);
        for (const correction of taken) await correction.decline("seen");
      }),
      { numRuns: 25, examples: [[["plan B"]]] },
    );
    expect(sent).toBeGreaterThan(0);
  });
});
