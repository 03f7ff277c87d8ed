import { Option, type Command } from "commander";
import { grantRequest, type NewToken, type TokenRequest } from "../broker/index.js";
import { decodeEntry, emptyState, evolve } from "../kernel/index.js";
import { tokenRecords, type TokenRecord } from "./admin.js";
import { administer } from "./administer.js";
import { DATA_HELP, dataPath } from "./config.js";
import { askControl } from "./control.js";
import { DataDir } from "./data-dir.js";
import { parseDuration } from "./durations.js";
import { CliError, EXIT } from "./exit.js";
import { withLogFiles } from "./log-files.js";
import { formatOption, print, printRecord, printRecords, type Format } from "./output.js";
import type { Column } from "./terminal/table.js";

interface AddOptions extends Omit<TokenRequest, "expiresInMs"> {
  data?: string;
  expires?: number;
  output: Format;
}
interface DataOptions {
  data?: string;
  output: Format;
}

export function tokenCommand(program: Command): void {
  const token = program.command("token").description("give, list and take away tokens of the broker that runs here");
  token
    .command("add")
    .description("make a token; it works at once and is shown only here")
    .option("--data <dir>", DATA_HELP)
    .addOption(
      new Option("--role <role>", "what it is for")
        .choices(["worker", "orchestrator", "auditor"])
        .makeOptionMandatory(),
    )
    .requiredOption("--subject <id>", "whose it is; of a worker, its worker id")
    .option("--worker <pattern>", "workers that it covers ('*' stays within a segment, '**' does not)")
    .option("--issue <pattern>", "issues that it covers")
    .option("--lane <pattern>", "lanes that it covers")
    .option("--expires <time>", "how long it holds: 30m, 24h, 7d; default: for ever", parseDuration)
    .option("--text", "auditor: may read texts too")
    .option("--watch-only", "orchestrator: may look, not correct")
    .addOption(formatOption())
    .action((options: AddOptions) => add(options));
  token
    .command("list")
    .description("list the tokens and what they grant")
    .option("--data <dir>", DATA_HELP)
    .addOption(formatOption())
    .action((options: DataOptions) => list(options));
  token
    .command("revoke")
    .description("take a token away, live connections included")
    .argument("<id>", "id of the token")
    .option("--data <dir>", DATA_HELP)
    .addOption(formatOption())
    .action((id: string, options: DataOptions) => revoke(id, options));
}

async function add({ data, output, expires, ...rest }: AddOptions): Promise<void> {
  const request: TokenRequest = expires === undefined ? rest : { ...rest, expiresInMs: expires };
  try {
    grantRequest(request);
  } catch (error) {
    throw error instanceof RangeError ? new CliError(error.message, EXIT.USAGE) : error;
  }
  const made = (await administer(dataPath(data), { command: "token_add", request })) as NewToken;
  if (output !== "table") return print(JSON.stringify({ id: made.id, token: made.token }));
  print(made.token);
  process.stderr.write(
    `token ${made.id} of ${request.role} ${request.subject}: shown only here, revoke with: a2achan token revoke ${made.id}\n`,
  );
}

const TOKEN_COLUMNS: readonly Column<TokenRecord>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "STATE", cell: ({ state }) => state, colour: ({ state }) => (state === "valid" ? "green" : "red") },
  { title: "ROLE", cell: ({ role }) => role },
  { title: "SUBJECT", cell: ({ subject }) => subject },
  { title: "WORKER", cell: ({ worker }) => worker },
  { title: "ISSUE", cell: ({ issue }) => issue },
  { title: "LANE", cell: ({ lane }) => lane },
  { title: "VERBS", cell: ({ verbs }) => verbs },
  { title: "EXPIRES", cell: ({ expires }) => expires },
];

async function list({ data, output }: DataOptions): Promise<void> {
  const directory = new DataDir(dataPath(data), false);
  const reply = await askControl(directory.controlSocket, { command: "token_list" });
  const records = reply === undefined ? await keptTokens(directory) : (reply.result as TokenRecord[]);
  printRecords(output, TOKEN_COLUMNS, records);
}

/** The tokens of a directory on which no broker runs: read from the log, to which looking adds nothing. */
async function keptTokens(data: DataDir): Promise<TokenRecord[]> {
  const state = emptyState();
  await withLogFiles(data.log, (reader) => reader.read(({ line }) => void evolve(state, decodeEntry(line))));
  const hashes = data.hashes();
  return tokenRecords([...state.grants.values()], Math.max(state.at, Date.now()), (id) => hashes.get(id) !== undefined);
}

async function revoke(id: string, { data, output }: DataOptions): Promise<void> {
  await administer(dataPath(data), { command: "token_revoke", id });
  printRecord(output, `revoked ${id}`, { id, revoked: true });
}
