/**
 * Lists as PostgreSQL writes them, for `unnest($1::bytea[])`: node-postgres would make a Buffer of each value and escape
 * it, which takes three times as long as inserting it. Values are hex digits and numbers of ours, never texts of others.
 */

type Hex = string | null | undefined;
type Amount = number | bigint | null | undefined;

/** `bytea[]` from 0x and hex digits. */
export function byteaArray(values: readonly Hex[]): string {
  return arrayOf(values, (hex) => `\\\\x${hex.slice(2)}`);
}

/** `int[]`, `bigint[]` or `numeric[]`. */
export function numberArray(values: readonly Amount[]): string {
  return arrayOf(values, String);
}

export function booleanArray(values: readonly boolean[]): string {
  return arrayOf(values, (value) => (value ? "t" : "f"));
}

/** `text[]` whose texts are a `bytea[]` each, for a cast: `unnest` would flatten a list of lists. */
export function byteaArrayTexts(lists: readonly (readonly string[])[]): string[] {
  return lists.map(byteaArray);
}

function arrayOf<Value>(
  values: readonly (Value | null | undefined)[],
  write: (value: Value) => string,
): string {
  return `{${values.map((value) => (value === null || value === undefined ? "NULL" : write(value))).join(",")}}`;
}
