/** A row as node-postgres gives it: nothing is known of its values before one of the readers below has looked. */
export type Row = Readonly<Record<string, unknown>>;

type Reader<Value> = (row: Row, column: string) => Value;

/** `int2`, `int4`, and an `int8` that is known to be small: a block's number, a time. */
export function readInteger(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "string" && integerText.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new RowError({ column, expected: "an integer up to 2^53", value });
}

/** `int8`, or a `numeric` without decimals: amounts in wei. */
export function readBigint(row: Row, column: string): bigint {
  const value = row[column];
  if (typeof value === "string" && integerText.test(value)) return BigInt(value);
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  throw new RowError({ column, expected: "an integer", value });
}

/** `bytea`. */
export function readBytes(row: Row, column: string): Buffer {
  const value = row[column];
  if (Buffer.isBuffer(value)) return value;
  throw new RowError({ column, expected: "bytes", value });
}

/** `bytea` as `0x` and lower-case hex digits. */
export function readHex(row: Row, column: string): `0x${string}` {
  return `0x${readBytes(row, column).toString("hex")}`;
}

/** `bytea[]`, without nulls. */
export function readHexList(row: Row, column: string): `0x${string}`[] {
  const value = row[column];
  if (!Array.isArray(value)) throw new RowError({ column, expected: "a list of bytes", value });
  return value.map((bytes: unknown) => readHex({ [column]: bytes }, column));
}

/** `text`, and whatever else comes as its text: `uuid`, `date`, `numeric` with decimals. */
export function readText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new RowError({ column, expected: "a text", value });
}

/** `text[]`, without nulls. */
export function readTextList(row: Row, column: string): string[] {
  const value = row[column];
  if (!Array.isArray(value)) throw new RowError({ column, expected: "a list of texts", value });
  return value.map((text: unknown) => readText({ [column]: text }, column));
}

export function readBoolean(row: Row, column: string): boolean {
  const value = row[column];
  if (typeof value === "boolean") return value;
  throw new RowError({ column, expected: "true or false", value });
}

/** `timestamptz`, to the millisecond. */
export function readTime(row: Row, column: string): Date {
  const value = row[column];
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  throw new RowError({ column, expected: "a time", value });
}

/** A column that may be null, read by one of the others where it is not. A column that the row does not have is no null. */
export function readNullable<Value>(read: Reader<Value>, row: Row, column: string): Value | null {
  return row[column] === null ? null : read(row, column);
}

/** The one row of an answer that has exactly one. */
export function onlyRow(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`one row was expected, not ${rows.length}`);
  return row;
}

const integerText = /^-?\d+$/;

/** A column is missing from the statement, or has another type than its reader: a fault of ours. */
export class RowError extends Error {
  override readonly name = "RowError";

  constructor({ column, expected, value }: { column: string; expected: string; value: unknown }) {
    // Never the value itself: rows hold secrets.
    super(`column ${column}: ${expected} was expected, not ${value === null ? "null" : typeof value}`);
  }
}
