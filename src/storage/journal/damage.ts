/** A log that is not what was written. The broker must not start on it; the message says where and what to do. */
export class DamagedLog extends Error {
  /** Index of the first entry that cannot be vouched for. */
  readonly index: number;

  constructor(index: number, what: string) {
    super(`the log is damaged at entry ${index}: ${what}; restore the directory from a backup, it was left as it is`);
    this.name = "DamagedLog";
    this.index = index;
  }
}
