/** A fault of one line: `find` stands once in `file`, and the suite must notice when `replace` stands there instead. */
export interface Mutant {
  /** What the broker does wrong then, in one sentence; names the mutant. */
  fault: string;
  /** The requirements of PROTOCOL.md that it breaks; none where WITNESS-LOG.md alone says so. */
  requirements: readonly string[];
  /** Path from the project's root. */
  file: string;
  find: string;
  replace: string;
  /** Test files, as paths from the project's root: at least one test of theirs must fail. */
  caughtBy: readonly string[];
}

type Fault = [requirements: string, fault: string, find: string, replace: string];

/** Faults of one file that the same test files catch. Names of files and requirements have a blank between them. */
export function faultsOf(file: string, tests: string, faults: readonly Fault[]): Mutant[] {
  return faults.map(([requirements, fault, find, replace]) => ({
    fault,
    requirements: requirements.split(" ").flatMap((id) => (id === "" ? [] : [`A2C-${id}`])),
    file: `src/${file}`,
    find,
    replace,
    caughtBy: tests.split(" ").map((test) => `test/${test}.test.ts`),
  }));
}
