import { isOfVersion } from "../../lib/workers/of-version.ts";
import type { Settings } from "../reload.ts";

/** Settings as one process tells another one: values alone. */
type ToldSettings = Settings & { version: number };

/** Grows with each change of the configuration's shape that an older program could not read. */
const version = 1;

export function tellSettings({ config, contracts }: Settings): ToldSettings {
  return { config, contracts, version };
}

/** Undefined where another version of this program has told them. */
export function readSettings(value: unknown): Settings | undefined {
  return isOfVersion<ToldSettings>(value, version)
    ? { config: value.config, contracts: value.contracts }
    : undefined;
}
