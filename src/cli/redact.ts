import { Option, type Command } from "commander";
import type { Redaction } from "../broker/index.js";
import { TEXT_FIELDS, type TextField } from "../protocol/index.js";
import { administer } from "./administer.js";
import { DATA_HELP, dataPath } from "./config.js";
import { CliError, EXIT } from "./exit.js";
import { parseIndex } from "./log-index.js";
import { correctionIdOf } from "./orchestrator.js";
import { formatOption, printRecord, type Format } from "./output.js";

interface RedactOptions {
  data?: string;
  index?: number;
  field?: TextField;
  everywhere?: boolean;
  output: Format;
}

export function redactCommand(program: Command): void {
  program
    .command("redact")
    .summary("erase a text from the log for good")
    .description(
      "erase a text from the log for good: its commitment stays, and the log says that it was redacted; not of an open correction, nor of a current row",
    )
    .argument("[correction]", "id of the correction whose texts are to go", correctionIdOf)
    .option("--index <n>", "the texts of the entry with this index instead", parseIndex)
    .addOption(new Option("--field <field>", "only this text").choices(TEXT_FIELDS))
    .option("--everywhere", "and wherever else the same words stand")
    .option("--data <dir>", DATA_HELP)
    .addOption(formatOption())
    .action((correction: string | undefined, options: RedactOptions) => redact(correction, options));
}

async function redact(
  correction: string | undefined,
  { data, index, field, everywhere, output }: RedactOptions,
): Promise<void> {
  if ((correction === undefined) === (index === undefined))
    throw new CliError("name one thing to redact: the id of a correction, or an --index", EXIT.USAGE);
  const which = correction === undefined ? { index } : { correction_id: correction };
  const request = { ...which, ...(field !== undefined && { field }), ...(everywhere === true && { everywhere }) };
  const gone = (await administer(dataPath(data), { command: "redact", request })) as Redaction;
  const said = [`redacted: ${placesIn(gone.redacted)}; copies and exports made before still have it`];
  const [other] = gone.elsewhere;
  if (other !== undefined) {
    const next = `a2achan redact --index ${other.index} --field ${other.field} --everywhere`;
    said.push(`the same words still stand in ${placesIn(gone.elsewhere)}; to erase them too: ${next}`);
  }
  printRecord(output, said.join("\n"), { ...gone });
}

function placesIn(places: Redaction["redacted"]): string {
  return places.map((place) => `the ${place.field} of entry ${place.index}`).join(", ");
}
