/** A place in the log that a client can come back to: opaque to it, shard and log size to us. */
export function cursorAt(shard: string, size: number): string {
  return `${shard}.${size}`;
}

/** The log size that a cursor of this shard names; undefined for one of another log, or of none. */
export function sizeOfCursor(cursor: string, shard: string, logSize: number): number | undefined {
  const at = cursor.lastIndexOf(".");
  const size = /^\d{1,15}$/.test(cursor.slice(at + 1)) ? Number(cursor.slice(at + 1)) : Number.NaN;
  return cursor.slice(0, at) === shard && size <= logSize ? size : undefined;
}
