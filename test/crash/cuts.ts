import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Program } from "../support/program.js";
import { randomFrom } from "../support/random.js";
import { Serve } from "../support/serve.js";
import { Book } from "./book.js";
import { Disk, type MountedImage } from "./disk.js";
import { inspect, inspectDrained } from "./inspect.js";
import { Load, provideCast } from "./load.js";

export interface CutFigures {
  images: number;
  /** Answers that clients read before the copies began, and what was checked because of them. */
  answers: number;
  claims: number;
  entries: number;
  /** Tails that a broker had not finished writing. */
  torn: number;
  /** What was answered and is not in a copy. */
  lost: string[];
  /** What a broker said that did not start on its copy. */
  refused: string[];
  /** What else was not as promised. */
  faults: string[];
}

const MOST_ANSWERS = 400;
const BROKER = fileURLToPath(new URL("./broker.ts", import.meta.url));

/**
 * Cuts the power of a disk `images` times while a broker works on it under load, and starts a broker on each copy.
 * Without `synced` the broker only pretends to make things durable.
 */
export async function runCuts(
  seed: number,
  images: number,
  synced: boolean,
  tell: (line: string) => void,
): Promise<CutFigures> {
  const figures: CutFigures = {
    images: 0,
    answers: 0,
    claims: 0,
    entries: 0,
    torn: 0,
    lost: [],
    refused: [],
    faults: [],
  };
  const random = randomFrom(seed);
  const book = new Book();
  using disk = new Disk();
  const data = join(disk.directory, "data");
  using program = new Program(["--import", "tsx", BROKER, data, ...(synced ? [] : ["--unsynced"])]);
  const broker = await Serve.of(program, data);
  const cast = await provideCast(broker, book);
  // So that it is the load that is lost, not the directory.
  if (!synced) disk.sync();
  while (figures.images < images) {
    let copy: MountedImage | undefined;
    let claims = 0;
    let { late } = book;
    const load = new Load(broker, cast, book, random);
    await load.run(1 + random(MOST_ANSWERS), () => {
      claims = book.claims.length;
      ({ late } = book);
      copy = disk.cut();
      load.stop();
    });
    if (copy === undefined) throw new Error("the load ended before the disk was copied");
    using found = copy;
    figures.images += 1;
    figures.claims += claims;
    const restarted = await start(join(found.directory, "data"), figures);
    if (restarted !== undefined) {
      const { log, lost, faults } = await inspect(restarted, book.claims.slice(0, claims), late);
      figures.entries += log.lines.length;
      figures.torn += log.lines.filter(
        (line) => line.includes(`"kind":"broker_started"`) && line.includes(`"torn":`),
      ).length;
      figures.lost.push(...lost);
      figures.faults.push(...faults);
      if (synced) figures.faults.push(...(await inspectDrained(restarted, cast, log)));
      await restarted.kill();
    }
    tell(`${figures.images} images, ${book.answers} answers, ${figures.lost.length} lost`);
  }
  figures.answers = book.answers;
  await program.kill();
  return figures;
}

/** Starts the real broker on a copy; undefined, and its words noted, when it does not start. */
async function start(data: string, figures: CutFigures): Promise<Serve | undefined> {
  try {
    return await Serve.start(data);
  } catch (error) {
    figures.refused.push(String(error));
    return undefined;
  }
}
