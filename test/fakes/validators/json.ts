/** A JSON object whose members are read with `text`, never trusted. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The string at `key`; throws where it is missing, for answers that anvil always gives. */
export function text(object: JsonObject, key: string): string {
  const value = object[key];
  if (typeof value !== "string") throw new Error(`expected a string at "${key}", found ${typeof value}`);
  return value;
}

export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
