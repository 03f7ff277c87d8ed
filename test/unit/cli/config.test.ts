import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectionOf, targetOf, type Target, type TargetOptions } from "../../../src/cli/config.js";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "a2achan-test-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function target(options: TargetOptions = {}, env: Record<string, string> = {}): Target {
  return targetOf(options, { env, directory });
}

function writeConfig(config: unknown): void {
  writeFileSync(join(directory, "a2achan.config.json"), typeof config === "string" ? config : JSON.stringify(config));
}

describe("targetOf", () => {
  const FLAG = "ws://flag/v1";
  const ENV = { A2ACHAN_URL: "ws://environment/v1", A2ACHAN_TOKEN: "environment-token" };
  const FILE = { url: "ws://file/v1", tokenFile: "file.token" };

  it("takes a flag before the environment, the environment before the file, the file before the default", () => {
    const urls = (): unknown[] => [target({ url: FLAG }, ENV), target({}, ENV), target()].map(({ url }) => url);
    writeConfig(FILE);
    mkdirSync(join(directory, ".a2achan"));
    expect(urls()).toEqual([
      { value: FLAG, from: "flag" },
      { value: ENV.A2ACHAN_URL, from: "environment" },
      { value: FILE.url, from: "a2achan.config.json" },
    ]);
    rmSync(join(directory, "a2achan.config.json"));
    expect(target().url).toEqual({ data: join(directory, ".a2achan"), from: "default" });
    rmSync(join(directory, ".a2achan"), { recursive: true });
    expect(target().url).toEqual({ value: "ws://127.0.0.1:7411/v1", from: "default" });
  });

  it("takes the token from the same levels, each by itself", () => {
    writeConfig(FILE);
    const own = join(directory, "flag.token");
    expect(target({ tokenFile: "flag.token" }, ENV).token).toEqual({ file: own, from: own });
    expect(target({ url: FLAG }, ENV).token).toEqual({ value: "environment-token", from: "A2ACHAN_TOKEN" });
    const filed = join(directory, "file.token");
    expect(target({ url: FLAG }).token).toEqual({ file: filed, from: filed });
    rmSync(join(directory, "a2achan.config.json"));
    expect(target({ url: FLAG }).token).toBeUndefined();
  });

  it("takes both from a data directory, unless the same level names one of them", () => {
    const data = join(directory, "d");
    expect(target({ data: "d" }, ENV)).toEqual({ url: { data, from: "flag" }, token: { data, from: "flag" } });
    expect(target({ data: "d", url: FLAG }, ENV)).toEqual({
      url: { value: FLAG, from: "flag" },
      token: { data, from: "flag" },
    });
    writeConfig({ data: "d" });
    expect(target()).toEqual({
      url: { data, from: "a2achan.config.json" },
      token: { data, from: "a2achan.config.json" },
    });
  });

  it("takes an empty variable for one that is not set", () => {
    expect(target({}, { A2ACHAN_URL: "", A2ACHAN_TOKEN: "" })).toEqual({
      url: { value: "ws://127.0.0.1:7411/v1", from: "default" },
      token: undefined,
    });
  });

  it.each([["{"], [{ url: 1 }], [{ token: "a2t_x" }], ["[]"]])("refuses the file %j with 78", (config) => {
    writeConfig(config);
    expect(() => target()).toThrow(expect.objectContaining({ exitCode: 78 }) as Error);
  });
});

describe("connectionOf", () => {
  const url: Target["url"] = { value: "ws://elsewhere/v1", from: "flag" };
  const exit = async (made: Promise<unknown>): Promise<unknown> =>
    made.then(
      () => "made",
      (error: unknown) => (error as { exitCode?: number }).exitCode,
    );

  it("never gives the operator's token of a data directory to a broker that is named otherwise", async () => {
    expect(await exit(connectionOf({ url, token: { data: directory, from: "default" } }))).toBe(4);
  });

  it("reads a token file without its line end", async () => {
    const file = join(directory, "t");
    writeFileSync(file, "a2t_x\n");
    expect(await connectionOf({ url, token: { file, from: file } })).toEqual({
      url: "ws://elsewhere/v1",
      token: "a2t_x",
      tokenFrom: file,
    });
    expect(await exit(connectionOf({ url, token: { file: `${file}2`, from: file } }))).toBe(78);
  });

  it("refuses a URL that is not one of a WebSocket with 78", async () => {
    const token = { value: "a2t_x", from: "A2ACHAN_TOKEN" };
    for (const value of ["http://h/v1", "127.0.0.1:7411", "ws:"])
      expect(await exit(connectionOf({ url: { value, from: "flag" }, token }))).toBe(78);
  });
});
