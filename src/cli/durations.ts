import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as 30m, 24h or 7d; undefined for anything else. */
export function durationMs(value: string): number | undefined {
  const [, count, unit = ""] = /^([1-9]\d{0,5})([smhd])$/.exec(value) ?? [];
  const ms = UNITS[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

/** `durationMs`, for an option of the command line. */
export function parseDuration(value: string): number {
  const ms = durationMs(value);
  if (ms === undefined) throw new InvalidArgumentError("a time is a number and s, m, h or d, such as 30s, 10m or 24h.");
  return ms;
}

/** How long something takes or took, for people: its two largest units. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(" ");
}
