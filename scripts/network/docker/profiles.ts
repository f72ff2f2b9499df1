import type { Manifest } from "../../../genesis/manifest.ts";

/** What the caller chooses goes before the network's own file, which names that of its trace node. */
export function profilesOf({
  env,
  manifest,
}: {
  env: Readonly<Record<string, string | undefined>>;
  manifest: Manifest;
}): string {
  const profiles = [env["COMPOSE_PROFILES"], manifest.traceNode === undefined ? undefined : "trace"];
  return profiles.filter(Boolean).join(",");
}
