const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export type DurationUnit = keyof typeof unitsMs;

/**
 * A length of time as a person writes it (`250ms`, `1.5s`, `30d`), in milliseconds; undefined for any other text. `units`
 * are those that make sense where it is asked for.
 */
export function parseDuration(text: string, units: readonly DurationUnit[]): number | undefined {
  const [, digits, written] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const unit = units.find((candidate) => candidate === written);
  return unit === undefined ? undefined : Number(digits) * unitsMs[unit];
}
