/** Prints lines as they come, and ends the process with 1 when none has come for `ms` milliseconds: then something hangs. */
export function tellOrEnd(ms: number): (line: string) => void {
  const hung = setTimeout(() => {
    console.error(`nothing has moved for ${ms / 1_000} s`);
    process.exit(1);
  }, ms);
  hung.unref();
  return (line) => {
    console.log(line);
    hung.refresh();
  };
}
