import { expect, it, vi } from "vitest";
import { checkpointFile } from "../../../src/client/checkpoint-file-browser.js";
import { LogTrail } from "../../../src/client/log-trail.js";
import { LyingLog } from "../../support/lying-log.js";

vi.mock("../../../src/client/log-checks.js", () => import("../../../src/client/log-checks-browser.js"));

const trail = (): LogTrail => new LogTrail({}, () => {});
const grown = LyingLog.of(9);

it("a client in a browser sees a rollback, another root and another origin, and no proof", () => {
  const held = trail();
  expect(held.welcomed(grown.checkpoint(5))).toBeUndefined();
  expect(held.welcomed(LyingLog.of(9, 2, "other").checkpoint(7))).toBeUndefined();
  expect(held.kept?.size).toBe(7);
  for (const note of [
    grown.checkpoint(6),
    grown.checkpoint(7),
    new LyingLog(grown.lines, "test/other").checkpoint(),
    "log\n",
  ]) {
    expect(() => held.welcomed(note)).toThrow(expect.objectContaining({ code: "log_forked" }));
  }
});

it("a client in a browser is told at once that it can pin no key and keep no file", () => {
  const unverifiable = expect.objectContaining({ code: "unverifiable" });
  expect(() => new LogTrail({ logKey: grown.logKey }, () => {}).load()).toThrow(unverifiable);
  expect(() => checkpointFile("x")).toThrow(unverifiable);
});
