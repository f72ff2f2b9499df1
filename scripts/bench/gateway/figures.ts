import type { Spread } from "./summarize.ts";

/** How a bench prints its figures. */

/** The first column to the left, the others to the right. */
export function columns(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_cell, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `  ${line.map(align).join("  ")}`.trimEnd());
}

export function spreadText(figure: Spread | undefined, format: (value: number) => string): string {
  if (figure === undefined) return "";
  const { median, min, max } = figure;
  return min === max ? format(median) : `${format(median)} (${format(min)}–${format(max)})`;
}

/** 0.5 as `0.50`. */
export function twoDigits(value: number): string {
  return value.toFixed(2);
}

/** 41230 as `41 230`. */
export function thousands(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");
}
