import { A2achanError, checkpointFile, connectAuditor, isRefused } from "a2achan/client";

const { A2ACHAN_URL: url = "ws://127.0.0.1:7411/v1", A2ACHAN_TOKEN: token = "" } = process.env;
const { A2ACHAN_LOG_KEY: logKey = "", A2ACHAN_CHECKPOINT: kept = "a2achan.checkpoint" } = process.env;

/** Exit code for a log that is not the one it was, the same as of `a2achan verify`. */
const PROOF_FAILED = 7;

try {
  // The key comes from somebody else than the broker, and the file remembers the log when this program is started again.
  await using auditor = await connectAuditor({ url, token, logKey, checkpoints: checkpointFile(kept) });
  for await (const item of auditor.verified()) {
    if (isRefused(item)) throw new Error(item.advice);
    if ("covered" in item) {
      console.log(`all is well: ${item.covered} entries, as signed`);
      continue;
    }
    // Your own rules about what is in the log go here; this one tells of what was WITNESSED.
    const { kind, worker_id, correction_id } = JSON.parse(item.line) as Record<string, unknown>;
    if (kind === "witnessed") console.log(`entry ${item.index}: ${String(correction_id)} of ${String(worker_id)}`);
  }
} catch (error) {
  if (!(error instanceof A2achanError)) throw error;
  const forked = error.code === "log_forked";
  console.error(forked ? `ALARM: ${error.message}` : error.message);
  if (forked)
    console.error(`\nkept:\n${error.checkpoints?.kept ?? "none\n"}\nshown:\n${error.checkpoints?.shown ?? "none\n"}`);
  process.exitCode = forked ? PROOF_FAILED : 1;
}
