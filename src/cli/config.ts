import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { askControl } from "./control.js";
import { DEFAULT_DATA, DataDir, reasonOf, requireNamed } from "./data-dir.js";
import { CliError, EXIT, NoBrokerError } from "./exit.js";

/** Where clients look for a broker that nothing else names. */
export const DEFAULT_URL = "ws://127.0.0.1:7411/v1";
const CONFIG_FILE = "a2achan.config.json";

/** The options by which a command is told which broker it speaks to, and as whom. */
export interface TargetOptions {
  url?: string;
  tokenFile?: string;
  data?: string;
}

/** What stands around a command beside its options. */
export interface Surroundings {
  /** Environment variables. */
  env: Readonly<Record<string, string | undefined>>;
  /** The directory in which the command runs. */
  directory: string;
}

/** One level of the configuration: what it says of the broker and of the token. */
interface Level {
  /** How a person names it. */
  name: string;
  url?: string;
  tokenFile?: string;
  token?: string;
  data?: string;
}

/** Which broker, and as whom; each with the words for where that was said. */
export interface Target {
  url: { value: string; from: string } | { data: string; from: string };
  token: { value: string; from: string } | { file: string; from: string } | { data: string; from: string } | undefined;
}

/** A broker's URL and a token for it. */
export interface Connection {
  url: string;
  token: string;
  /** Where the token came from, for a person who has to change it. */
  tokenFrom: string;
  /** The data directory of a broker that runs here. */
  data?: string;
}

/**
 * The configuration in force: flag, then environment, then a2achan.config.json, then default. On each level what names
 * the URL or the token goes before a data directory, which stands for both.
 */
export function targetOf(options: TargetOptions, { env, directory }: Surroundings): Target {
  const defaultData = resolve(directory, DEFAULT_DATA);
  const levels: Level[] = [
    { name: "flag", ...given(options.url, options.tokenFile, options.data, directory) },
    {
      name: "environment",
      ...(isSaid(env["A2ACHAN_URL"]) && { url: env["A2ACHAN_URL"] }),
      ...(isSaid(env["A2ACHAN_TOKEN"]) && { token: env["A2ACHAN_TOKEN"] }),
    },
    { name: CONFIG_FILE, ...readConfig(resolve(directory, CONFIG_FILE)) },
    { name: "default", ...(existsSync(defaultData) ? { data: defaultData } : { url: DEFAULT_URL }) },
  ];
  let url: Target["url"] = { value: DEFAULT_URL, from: "default" };
  let token: Target["token"];
  for (const level of levels.toReversed()) {
    if (level.data !== undefined) {
      url = { data: level.data, from: level.name };
      token = { data: level.data, from: level.name };
    }
    if (level.url !== undefined) url = { value: level.url, from: level.name };
    if (level.token !== undefined) token = { value: level.token, from: "A2ACHAN_TOKEN" };
    if (level.tokenFile !== undefined) token = { file: level.tokenFile, from: level.tokenFile };
  }
  return { url, token };
}

/** What `--data` is for, where a command works on the directory itself. */
export const DATA_HELP = `data directory of the broker; else the one of ${CONFIG_FILE}; default: ${DEFAULT_DATA}`;

/** The data directory for a command that works on it: flag, then a2achan.config.json, then default. */
export function dataPath(option: string | undefined, directory = process.cwd()): string {
  return option ?? readConfig(resolve(directory, CONFIG_FILE)).data ?? DEFAULT_DATA;
}

/**
 * The broker and the token that a target comes to. The operator's token of a data directory goes to that directory's
 * own broker only, and only while that broker runs: whoever else listens at the address never sees it.
 */
export async function connectionOf({ url, token }: Target): Promise<Connection> {
  if (token === undefined && url.from === "default") {
    throw new NoBrokerError(
      "no broker is known here; start one with: a2achan serve, or name one with --url and --token-file",
    );
  }
  const data = "data" in url ? url.data : undefined;
  const address = "data" in url ? await runningAt(new DataDir(url.data, false)) : checkedUrl(url.value);
  if (token === undefined || ("data" in token && token.data !== data)) {
    throw new CliError(
      `there is no token for ${address}; name one with --token-file or A2ACHAN_TOKEN (whoever runs the broker makes it: a2achan token add)`,
      EXIT.AUTH,
    );
  }
  const found = "value" in token ? token.value : "file" in token ? readToken(token.file) : operatorToken(token.data);
  const tokenFrom = "data" in token ? new DataDir(token.data, false).operatorToken : token.from;
  return { url: address, token: found.trim(), tokenFrom, ...(data !== undefined && { data }) };
}

/** The URL of the broker that runs on a data directory; throws with the command that starts one. */
async function runningAt(data: DataDir): Promise<string> {
  const broker = data.broker();
  const alive = broker === undefined ? undefined : await askControl(data.controlSocket, { command: "ping" });
  if (broker !== undefined && alive !== undefined) return broker.url;
  throw new NoBrokerError(
    `no broker runs on ${data.path}; start one with: a2achan serve --data ${data.path}, or name another with --url`,
  );
}

function operatorToken(data: string): string {
  const directory = new DataDir(data, false);
  const kept = directory.keptOperator();
  if (kept !== undefined) return kept.token;
  throw new CliError(`${directory.operatorToken} is missing; start the broker again to have it made`, EXIT.CONFIG);
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read the token file ${file}: ${reasonOf(error)}`, EXIT.CONFIG);
  }
}

function checkedUrl(value: string): string {
  if (URL.canParse(value) && /^wss?:$/.test(new URL(value).protocol)) return value;
  throw new CliError(`${value} is no URL of a broker; it is ws://HOST:PORT/v1 or wss://HOST/v1`, EXIT.CONFIG);
}

const configFile = z.strictObject({
  url: z.exactOptional(z.string()),
  tokenFile: z.exactOptional(z.string()),
  data: z.exactOptional(z.string()),
});

function readConfig(path: string): Omit<Level, "name"> {
  if (!existsSync(path)) return {};
  let said: unknown;
  try {
    said = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CliError(`cannot read ${path}: ${reasonOf(error)}`, EXIT.CONFIG);
  }
  const parsed = configFile.safeParse(said);
  if (!parsed.success)
    throw new CliError(`${path} holds url, tokenFile and data, each a string, and no more`, EXIT.CONFIG);
  return given(parsed.data.url, parsed.data.tokenFile, parsed.data.data, dirname(path));
}

function given(url?: string, tokenFile?: string, data?: string, directory = "."): Omit<Level, "name"> {
  requireNamed(data);
  return {
    ...(url !== undefined && { url }),
    ...(tokenFile !== undefined && { tokenFile: resolve(directory, tokenFile) }),
    ...(data !== undefined && { data: resolve(directory, data) }),
  };
}

function isSaid(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
