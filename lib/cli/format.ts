/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Names and values below each other. */
export function fields(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

/** `2027-01-31 12:00:00 UTC` */
export function time(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A length of time in its largest unit that keeps two digits of meaning: `45 s`, `90 min`, `36 h`, `12 days`. */
export function duration(lengthMs: number): string {
  const seconds = Math.max(0, Math.round(lengthMs / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 120 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** `600,000` */
export function count(value: number | bigint): string {
  return value.toLocaleString("en-US");
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
