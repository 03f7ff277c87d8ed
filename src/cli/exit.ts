/** Exit codes of the command line (README). */
export const EXIT = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  REFUSED: 3,
  AUTH: 4,
  NOT_WITNESSED: 5,
  TIMEOUT: 6,
  PROOF_FAILED: 7,
  IN_USE: 73,
  CONFIG: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An end of a command that a person can act on: printed as one sentence, without a stack. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.FAILED) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** There is no broker to speak to; the sentence says how to start one. */
export class NoBrokerError extends CliError {}
