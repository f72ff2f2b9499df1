import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { Manifest } from "../../../genesis/manifest.ts";

/**
 * Profiles add up: those of the caller's environment, those that the operator wrote into the network's compose.env, and that of its trace node. Of
 * two `COMPOSE_PROFILES` compose itself takes one alone, so `up` with a profile more would take away what stands in the file.
 */
export function profilesOf({
  env,
  folder,
  manifest,
}: {
  env: Readonly<Record<string, string | undefined>>;
  /** The network's. */
  folder: string;
  manifest: Manifest;
}): string {
  const texts = [
    env["COMPOSE_PROFILES"],
    fileProfiles(join(folder, "compose.env")),
    manifest.traceNode === undefined ? undefined : "trace",
  ];
  const names = texts.flatMap((text) => (text ?? "").split(",")).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))].join(",");
}

/** Compose says what is wrong with a file that is not there. */
function fileProfiles(file: string): string | undefined {
  try {
    return parseEnv(readFileSync(file, "utf8"))["COMPOSE_PROFILES"];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
