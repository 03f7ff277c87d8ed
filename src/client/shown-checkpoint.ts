/** A checkpoint as a broker showed it: what it says, whether or not its signature was checked. */
export interface ShownCheckpoint {
  /** Names the log. */
  origin: string;
  /** Number of entries. */
  size: number;
  /** Root of the tree over them, in base64. */
  root: string;
  /** The signed note, verbatim. */
  note: string;
}

const NOTE =
  /^(?<origin>[^\n]+)\n(?<size>0|[1-9]\d{0,15})\n(?<root>[A-Za-z0-9+/]{43}=)\n\n(?:\u2014 [^ \n]+ [^ \n]+\n)+$/u;

/** Reads a signed checkpoint (C2SP tlog-checkpoint); undefined for what is none. */
export function readCheckpoint(note: string): ShownCheckpoint | undefined {
  const { origin, size, root } = NOTE.exec(note)?.groups ?? {};
  if (origin === undefined || root === undefined || !Number.isSafeInteger(Number(size))) return undefined;
  return { origin, size: Number(size), root, note };
}
