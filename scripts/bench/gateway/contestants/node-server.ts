import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command, Setup } from "../contestant.ts";

/** The settings of our contestants over `node:http`, as JSON in a file. */
export type ServerSettings = Pick<Setup, "port" | "keys" | "redisUrl"> & { validators: string[] };

/** A program of `servers/` with its settings. */
export function nodeServer(script: string, { folder, port, keys, redisUrl, validatorPorts }: Setup): Command {
  const settings: ServerSettings = {
    port,
    keys,
    redisUrl,
    validators: validatorPorts.map((validator) => `http://127.0.0.1:${validator}`),
  };
  const file = join(folder, "settings.json");
  writeFileSync(file, JSON.stringify(settings));
  const path = fileURLToPath(new URL(`../servers/${script}`, import.meta.url));
  return { program: process.execPath, args: ["--disable-warning=ExperimentalWarning", path, file] };
}
