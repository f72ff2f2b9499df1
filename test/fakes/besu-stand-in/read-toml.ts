import type { OptionValue } from "./read-options.ts";

/** Reads the part of TOML that our configuration files use: `key=value` lines, arrays on one line, comments. */
export function readToml(text: string): Map<string, OptionValue> {
  const values = new Map<string, OptionValue>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const match = /^([A-Za-z0-9-]+)\s*=\s*(.+)$/.exec(trimmed);
    const [, key, value] = match ?? [];
    if (key === undefined || value === undefined || values.has(key)) {
      throw new Error(`Invalid TOML configuration: line ${index + 1}: ${trimmed}`);
    }
    values.set(key, readValue(value, index + 1));
  }
  return values;
}

function readValue(text: string, line: number): OptionValue {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  } catch {
    // Below.
  }
  throw new Error(`Invalid TOML configuration: line ${line}: ${text}`);
}
