import { type Finding, problem } from "./finding.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A genesis file with all its keys in lower case, as Besu reads them. */
export type GenesisView = { root: JsonObject; config: JsonObject; alloc: JsonObject };

/** Reads a genesis file, or says why nothing in it can be read. `findings` are what reading it has shown. */
export function readGenesis(text: string): { view: GenesisView; findings: Finding[] } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { problem: `this is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!isObject(json)) return { problem: "this is JSON, but not an object" };
  const findings: Finding[] = [];
  const root = lowerCased(json, "the file", findings);
  const inside = (name: string): JsonObject => {
    const value = root[name];
    if (isObject(value)) return lowerCased(value, `"${name}"`, findings);
    findings.push(problem(`"${name}" is ${value === undefined ? "missing" : "not an object"}`));
    return {};
  };
  return { view: { root, config: inside("config"), alloc: inside("alloc") }, findings };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function lowerCased(object: JsonObject, place: string, findings: Finding[]): JsonObject {
  const seen = new Map<string, string>();
  for (const key of Object.keys(object)) {
    const lower = key.toLowerCase();
    const other = seen.get(lower);
    if (other === undefined) seen.set(lower, key);
    else
      findings.push(
        problem(`"${other}" and "${key}" in ${place} are the same to Besu, and one of them is lost`),
      );
  }
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]));
}
