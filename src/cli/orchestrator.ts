import {
  A2achanError,
  connectOrchestrator,
  isRefused,
  statusDigest,
  type Orchestrator,
  type View,
  type WorkerFilter,
} from "../client/index.js";
import { InvalidArgumentError } from "commander";
import { encodeId, isCorrectionId, isId } from "../protocol/index.js";
import { connectionOf, targetOf, type Connection, type TargetOptions } from "./config.js";
import { CliError, EXIT, NoBrokerError } from "./exit.js";
import { refusedError } from "./refusal.js";

/** Connects as the options and their surroundings say, runs `work`, and closes; what fails is told in a sentence. */
export async function asOrchestrator<T>(
  options: TargetOptions,
  work: (orchestrator: Orchestrator, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connectionOf(targetOf(options, { env: process.env, directory: process.cwd() }));
  try {
    await using orchestrator = await connectOrchestrator({ url: connection.url, token: connection.token });
    return await work(orchestrator, connection);
  } catch (error) {
    throw error instanceof A2achanError ? clientError(error, connection, "orchestrator") : error;
  }
}

/** One worker's view; throws when there is none that the token may see. */
export async function viewOf(orchestrator: Orchestrator, worker: string): Promise<View> {
  const view = await orchestrator.get(worker);
  if (isRefused(view)) throw refusedError(view);
  if (view === undefined) {
    throw new CliError(`${worker} has no row that this token may see; who is there: a2achan workers`, EXIT.REFUSED);
  }
  // A digest cites the row that was read, so it is computed from that row.
  return { ...view, status_digest: statusDigest(view.row) };
}

/** All workers that pass a filter, in the order of their ids. */
export async function allWorkers(orchestrator: Orchestrator, filter: WorkerFilter): Promise<View[]> {
  const views: View[] = [];
  for (let after: string | undefined; ;) {
    const page = await orchestrator.list(filter, after === undefined ? {} : { after });
    if (isRefused(page)) throw refusedError(page);
    views.push(...page.rows);
    if (page.next === undefined) return views;
    after = page.next;
  }
}

/** The id of a correction, as it was printed. */
export function correctionIdOf(value: string): string {
  if (isCorrectionId(value)) return value;
  throw new InvalidArgumentError("the id of a correction is corr_ and 32 hex digits, as correct prints it.");
}

/** An id as a person writes it: one that has characters which ids have no room for is percent-encoded. */
export function idOf(value: string): string {
  try {
    return isId(value) ? value : encodeId(value);
  } catch (error) {
    throw new CliError(`${JSON.stringify(value)} cannot be an id: ${(error as Error).message}`, EXIT.USAGE);
  }
}

/** What a client met, in a sentence that says what to do. */
export function clientError(
  error: A2achanError,
  { url, tokenFrom }: Connection,
  role: "orchestrator" | "auditor",
): CliError {
  switch (error.code) {
    case "unauthenticated": {
      const sentence = `the broker at ${url} does not accept the token from ${tokenFrom}; where it runs, make one: a2achan token add`;
      return new CliError(sentence, EXIT.AUTH);
    }
    case "role_not_granted": {
      const sentence = `the token from ${tokenFrom} is not an ${role}'s; where the broker runs, make one: a2achan token add --role ${role} --subject NAME`;
      return new CliError(sentence, EXIT.AUTH);
    }
    case "log_forked":
      return new CliError(`${url}: ${error.message}`, EXIT.PROOF_FAILED);
    case "unreachable":
      if (causeOf(error) === error.message) return new NoBrokerError(`${url}: ${error.message}`);
      return new NoBrokerError(`no broker can be reached at ${url} (${causeOf(error)}); start one with: a2achan serve`);
    default:
      return new CliError(`${url}: ${error.message}`, error.code === "timeout" ? EXIT.TIMEOUT : EXIT.FAILED);
  }
}

/** The innermost reason, as the system gives it. */
function causeOf(error: Error): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const { code } = cause as NodeJS.ErrnoException;
  return code ?? causeOf(cause);
}
