const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as 30m, 24h or 7d; undefined for anything else. */
export function durationMs(value: string): number | undefined {
  const [, count, unit = ""] = /^([1-9]\d{0,5})([smhd])$/.exec(value) ?? [];
  const ms = UNITS[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}
