import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { entriesOf, fill, LogFiles } from "../support/log-files.js";
import { opened as signed } from "../support/opened.js";
import { leaf, rootOf } from "../support/rfc6962.js";

let broker: TestBroker;
let files: LogFiles;

async function start(options: { publicLog?: boolean } = {}): Promise<void> {
  broker = await TestBroker.start(options);
  const { token } = await broker.running.addToken({ role: "auditor", subject: "eve" });
  files = new LogFiles(broker.running.http, token);
}

beforeEach(() => start());
afterEach(() => broker.stop());

const opened = (note: Buffer) => signed(note, broker.running.broker.logKey);

const hashes = (tile: Buffer): Buffer[] =>
  Array.from({ length: tile.length / 32 }, (_, at) => tile.subarray(at * 32, (at + 1) * 32));

describe("the log over HTTP", () => {
  it("is a checkpoint, bundles of entries and tiles of hashes that make its root [A2C-PRV-08]", async () => {
    await fill(await broker.worker("w-1"), (ms) => broker.clock.advance(ms), 262);
    const { size, root } = opened(await files.bytes("checkpoint"));
    expect(size).toBeGreaterThan(512);
    const rest = size - 512;
    const bundles = ["tile/entries/000", "tile/entries/001", `tile/entries/002.p/${rest}`];
    const lines = (await Promise.all(bundles.map((path) => files.bytes(path)))).flatMap(entriesOf);
    expect(lines.map((line) => (JSON.parse(line) as { index: number }).index)).toEqual([...lines.keys()]);
    const leaves = lines.map(leaf);
    expect(rootOf(leaves).equals(root)).toBe(true);
    const tiles = ["tile/0/000", "tile/0/001", `tile/0/002.p/${rest}`];
    expect((await Promise.all(tiles.map((path) => files.bytes(path)))).flatMap(hashes)).toEqual(leaves);
    const above = [rootOf(leaves.slice(0, 256)), rootOf(leaves.slice(256, 512))];
    expect(hashes(await files.bytes("tile/1/000.p/2"))).toEqual(above);
    expect(lines.join("")).not.toContain("secret");
  });

  it("serves a partial tile as it stood, also when more has come, and no wider one [A2C-PRV-08]", async () => {
    await fill(await broker.worker("w-1"), (ms) => broker.clock.advance(ms), 12);
    const before = opened(await files.bytes("checkpoint")).size;
    const [tile, bundle] = [`tile/0/000.p/${before}`, `tile/entries/000.p/${before}`];
    const kept = await Promise.all([files.bytes(tile), files.bytes(bundle)]);
    await fill(await broker.worker("w-2"), (ms) => broker.clock.advance(ms), 12);
    expect(await Promise.all([files.bytes(tile), files.bytes(bundle)])).toEqual(kept);
    const { size } = opened(await files.bytes("checkpoint"));
    expect(size).toBeGreaterThan(before);
    for (const path of [
      `tile/0/000.p/${size + 1}`,
      "tile/0/000",
      "tile/entries/000",
      "tile/1/000.p/1",
      "tile/0/000.p/0",
      "tile/0/000.p/256",
      "tile/0/0",
      "tile/0/x000/000.p/1",
      "tile/64/000.p/1",
      "tile/0/000.p/1/",
    ]) {
      const response = await files.get(path);
      expect([path, response.status, await response.text()]).toEqual([path, 404, "the log has no such tile\n"]);
    }
  });

  it("may be kept for ever tile by tile, and the checkpoint not at all [A2C-PRV-08]", async () => {
    const headers = async (path: string): Promise<(string | null)[]> => {
      const { headers: got } = await files.get(path);
      return [got.get("content-type"), got.get("cache-control")];
    };
    const immutable = "private, max-age=31536000, immutable";
    expect(await headers("tile/0/000.p/1")).toEqual(["application/octet-stream", immutable]);
    expect(await headers("tile/entries/000.p/1")).toEqual(["application/octet-stream", immutable]);
    expect(await headers("checkpoint")).toEqual([expect.stringMatching(/^text\/plain/), "no-store"]);
  });
});

describe("who may read it", () => {
  it("is who bears a token that audits; others are 401, whatever they ask for [A2C-PRV-09]", async () => {
    const lead = await broker.running.addToken({
      role: "orchestrator",
      subject: "lead",
      worker: "**",
      issue: "**",
      lane: "**",
    });
    const revoked = await broker.running.addToken({ role: "auditor", subject: "mallory" });
    await broker.running.broker.revokeToken(revoked.id);
    for (const token of [undefined, "a2t_nobody", lead.token, revoked.token]) {
      for (const path of ["checkpoint", "tile/0/000.p/1", "tile/entries/000.p/1", "tile/nothing", "elsewhere"]) {
        const response = await new LogFiles(broker.running.http, token).get(path);
        expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
        expect(await response.text()).toBe("the log is for auditors; send Authorization: Bearer TOKEN\n");
      }
    }
    expect((await files.get("checkpoint")).status).toBe(200);
  });

  it("is everybody when the operator made it public [A2C-PRV-09]", async () => {
    await broker.stop();
    await start({ publicLog: true });
    const anybody = new LogFiles(broker.running.http);
    expect(opened(await anybody.bytes("checkpoint")).size).toBeGreaterThan(0);
    expect(entriesOf(await anybody.bytes("tile/entries/000.p/2"))).toHaveLength(2);
  });
});
