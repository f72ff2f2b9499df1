import { isOfVersion } from "../../lib/workers/of-version.ts";
import type { GatewayConfig } from "../config.ts";
import { createMethodTable, type MethodTable } from "../methods/method-table.ts";
import type { Settings } from "../start-serving.ts";

/** Settings as one process tells another one: values alone. */
type ToldSettings = { config: GatewayConfig; methods: Omit<MethodTable, "lookup">; version: number };

/** Grows with each change of the configuration's shape that an older program could not read. */
const version = 1;

export function tellSettings({ config, methods: { rules, refused, explorerCost } }: Settings): ToldSettings {
  return { config, methods: { rules, refused, explorerCost }, version };
}

/** Undefined where another version of this program has told them. */
export function readSettings(value: unknown): Settings | undefined {
  if (!isOfVersion<ToldSettings>(value, version)) return undefined;
  return { config: value.config, methods: createMethodTable(value.methods) };
}
