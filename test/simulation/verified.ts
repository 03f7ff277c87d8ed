import { Verifier } from "../../src/cli/audit/verifier.js";
import { LogReader, readHead } from "../../src/storage/journal/index.js";
import { parseText } from "../../src/storage/journal/lines.js";
import { HEAD } from "../support/journal-scenes.js";
import { SimDisk } from "../support/sim-files.js";
import { DIRECTORY } from "./broker-process.js";
import type { World } from "./world.js";

/** What the log says to be gone is so, and an auditor who reads the whole disk finds it said, and nothing wrong. */
export async function verified({ disk, verifierKey: key, redactions, report, count }: World): Promise<void> {
  const redacted = redactions.named;
  if (redacted === 0) return;
  redactions.started(disk);
  const files = SimDisk.of(disk.contents());
  const head = await readHead(files, HEAD);
  const verifier = new Verifier({ texts: "whole", key, ...(head !== undefined && { head }) });
  const reader = new LogReader(DIRECTORY, files);
  await reader.read((entry) => verifier.take(entry) === undefined);
  await reader.close();
  const { difference, texts } = verifier.end();
  if (difference !== undefined) report("kept", `entry ${difference.index}: ${difference.sentence}`);
  else if (texts.redacted !== redacted || texts.absent > 0)
    report("kept", `${redacted} texts are gone; found: ${JSON.stringify(texts)}`);
  for (const [path, bytes] of Object.entries(files.contents())) {
    const lines = path.endsWith(".jsonl") ? bytes.toString("latin1").split("\n").slice(0, -1) : [];
    const half = lines.find(isHalfErased);
    if (half !== undefined) report("gone", `${path} has a half erased text: ${half}`);
  }
  count("logs verified");
}

/** Neither a text nor blank to the last of its bytes. */
function isHalfErased(line: string): boolean {
  if (line.startsWith('{"text":')) return parseText(Buffer.from(line, "latin1")) === undefined;
  return line.startsWith(" ") && line.trim() !== "";
}
