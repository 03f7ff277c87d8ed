import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { A2achanError, connectAuditor, isRefused } from "../../client/index.js";
import type { TextLine } from "../../kernel/index.js";
import { DamagedLog, LogReader, readHead, systemFiles } from "../../storage/journal/index.js";
import { textsByEntry } from "../../storage/texts.js";
import type { Connection } from "../config.js";
import { reasonOf } from "../data-dir.js";
import { CliError, EXIT } from "../exit.js";
import { clientError } from "../orchestrator.js";
import { refusedError } from "../refusal.js";
import { exportedLines, NoExport } from "./exported-lines.js";
import { claimedSize, type Verifier, type Yardsticks } from "./verifier.js";

/** Told of each entry, and how much of the log it ends, where that is known: 0 to 1. */
type Tell = (entries: number, share?: number) => void;

/** Where a log to be verified comes from. */
export interface Source {
  /** What it brings to be held against. */
  yardsticks: Pick<Yardsticks, "head" | "texts" | "bounded"> & { checkpoints: { name: string; note: string }[] };
  /** Gives the verifier every entry, until it has found a difference. */
  read(verifier: Verifier, tell: Tell): Promise<void>;
}

/** A file that an export wrote, with the checkpoint beside it if it is there. */
export function exportSource(file: string): Source {
  const beside = `${file}.checkpoint`;
  const checkpoints = existsSync(beside) ? [{ name: beside, note: readNote(beside) }] : [];
  return {
    yardsticks: { checkpoints, texts: "some", bounded: checkpoints.length > 0 },
    async read(verifier, tell) {
      const total = statSync(file).size;
      const stream = createReadStream(file);
      try {
        for await (const entry of exportedLines(stream as AsyncIterable<Uint8Array>)) {
          if (verifier.take(entry) !== undefined) return;
          tell(entry.index + 1, total === 0 ? undefined : stream.bytesRead / total);
        }
      } catch (error) {
        if (!(error instanceof NoExport)) throw error;
        verifier.fail({ index: error.index, sentence: error.message });
      }
    },
  };
}

/** A tail past the head. */
const UNFINISHED = "bytes past the head: being written, or torn, and then set aside at the next start";

/** The log of a data directory, or a directory of segments alone; a broker may be writing it. */
export async function directorySource(directory: string, headFile?: string): Promise<Source> {
  const log = existsSync(join(directory, "log")) ? join(directory, "log") : directory;
  if (!existsSync(join(log, "00000000.jsonl"))) throw new CliError(`${directory} holds no log`, EXIT.CONFIG);
  const headPath = headFile ?? join(directory, "head");
  const head = await readHead(systemFiles, headPath);
  // Segments alone have none; but one that is there, or was named, must not go unheeded.
  if (head === undefined && existsSync(headPath))
    throw new CliError(`not proven: neither slot of the head file ${headPath} can be read`, EXIT.PROOF_FAILED);
  if (head === undefined && headFile !== undefined) throw new CliError(`there is no head file ${headFile}`);
  return {
    yardsticks: { checkpoints: [], texts: "whole", ...(head !== undefined && { head }) },
    async read(verifier, tell) {
      const reader = new LogReader(log);
      try {
        await reader.read((entry) => {
          const difference = verifier.take(entry);
          tell(entry.index + 1, head === undefined ? undefined : (entry.index + 1) / head.size);
          return difference === undefined;
        });
        if (reader.broken === undefined) return;
        if (reader.next < (head?.size ?? Number.POSITIVE_INFINITY))
          verifier.fail({ index: reader.next, sentence: `what stands there does not check: ${reader.broken}` });
        else verifier.leave(`${UNFINISHED} (${reader.broken})`);
      } catch (error) {
        if (!(error instanceof DamagedLog)) throw error;
        verifier.fail({ index: error.index, sentence: "the segment does not check from there on" });
      } finally {
        await reader.close();
      }
    },
  };
}

const PAGE = 1_000;

/** The log as a broker serves it to an auditor, up to the checkpoint that it signs when asked first. */
export async function brokerSource(connection: Connection): Promise<Source> {
  const note = await checkpointOf(connection);
  const size = note === undefined ? undefined : claimedSize(note);
  const checkpoints = note === undefined ? [] : [{ name: "the broker's checkpoint", note }];
  return {
    yardsticks: { checkpoints, texts: "some" },
    async read(verifier, tell) {
      try {
        await using auditor = await connectAuditor({ url: connection.url, token: connection.token });
        for (let after = 0; size === undefined || after < size;) {
          const limit = Math.min(PAGE, size === undefined ? PAGE : size - after);
          const page = await auditor.log({ after, limit });
          if (isRefused(page)) throw refusedError(page);
          const { entries, next } = page;
          const texts = textsByEntry(page.texts as TextLine[]);
          if (entries.length < next - after) {
            throw new CliError(
              `the token from ${connection.tokenFrom} shows a part of the log, and only a whole one can be verified; where the broker runs, make one: a2achan token add --role auditor --subject audit`,
              EXIT.AUTH,
            );
          }
          for (const [at, line] of entries.entries()) {
            const index = after + at;
            if (verifier.take({ index, line, texts: texts.get(index) ?? [] }) !== undefined) return;
          }
          if (next === after) return;
          after = next;
          tell(after, size === undefined ? undefined : after / size);
        }
      } catch (error) {
        throw error instanceof A2achanError ? clientError(error, connection, "auditor") : error;
      }
    },
  };
}

/** As long as the client waits for an answer. */
const CHECKPOINT_WAIT_MS = 10_000;

/** The broker's tiles lie beside its socket; a proxy may serve only one of the two, and what is no broker nothing at all. */
async function checkpointOf({ url, token }: Connection): Promise<string | undefined> {
  const address = new URL("/log/checkpoint", url.replace(/^ws/, "http"));
  const headers = { authorization: `Bearer ${token}` };
  try {
    const signal = AbortSignal.timeout(CHECKPOINT_WAIT_MS);
    const answer = await fetch(address, { headers, redirect: "error", signal });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a signed note. */
export function readNote(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${reasonOf(error)}`);
  }
}
