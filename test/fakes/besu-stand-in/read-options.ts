import { readFileSync } from "node:fs";
import { z } from "zod";
import { readToml } from "./read-toml.ts";

export type OptionValue = string | number | boolean | string[];
export type Options = ReadonlyMap<string, OptionValue>;

const vector = new URL("../../vectors/besu-options.json", import.meta.url);
/** Besu's options by name, each with the kind of its value. */
export const besuOptions = z
  .record(z.string(), z.enum(["string", "number", "boolean", "list"]))
  .parse(JSON.parse(readFileSync(vector, "utf8")));

/** The command line over the file that it names, as Besu has them; throws in Besu's words. */
export function readOptions(args: readonly string[]): Options {
  const given = new Map<string, OptionValue>();
  let file: string | undefined;
  for (const arg of args) {
    const [, name = "", text = "true"] = /^--([A-Za-z0-9-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === "config-file") file = text;
    else if (besuOptions[name] === undefined) throw new Error(`Unknown option: '${arg}'`);
    else given.set(name, readValue(name, text));
  }
  const filed: Options = file === undefined ? new Map() : readToml(readFileSync(file, "utf8"));
  const unknown = [...filed.keys()].filter((name) => besuOptions[name] === undefined);
  if (unknown.length > 0) {
    const plural = unknown.length > 1 ? "options" : "option";
    throw new Error(`Unknown ${plural} in TOML configuration file: ${unknown.join(", ")}`);
  }
  for (const [name, value] of filed) checkKind(name, value);
  return new Map([...filed, ...given]);
}

function readValue(name: string, text: string): OptionValue {
  const kind = besuOptions[name];
  if (kind === "number") return Number(text);
  if (kind === "boolean") return text === "true";
  return kind === "list" ? text.split(",") : text;
}

function checkKind(name: string, value: OptionValue): void {
  const kind = Array.isArray(value) ? "list" : typeof value;
  const expected = besuOptions[name];
  if (kind !== expected) throw new Error(`Invalid value for option '--${name}': a ${expected} was expected`);
}

export function textOption(options: Options, name: string): string {
  const value = options.get(name);
  if (typeof value === "string") return value;
  throw new Error(`Missing required option: '--${name}'`);
}

export function numberOption(options: Options, name: string): number {
  const value = options.get(name);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error(`Missing required option: '--${name}'`);
}
