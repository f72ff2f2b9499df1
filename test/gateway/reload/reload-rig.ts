import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import type { GatewayConfig } from "../../../gateway/config.ts";
import type { ReadAgain } from "../../../lib/reload/reloader.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { askReload, type ReloadTold } from "../../helpers/ask-reload.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";

/** A gateway whose configuration "in the file" is what the test puts there. */
export async function startReloadable(
  t: Test,
  {
    upstreams,
    change = (config) => config,
  }: { upstreams?: readonly string[]; change?: (config: GatewayConfig) => GatewayConfig } = {},
) {
  const redis = await startRedis(t);
  const urls = upstreams ?? [(await startStubValidator(t)).url];
  let skippedMs = 0;
  let read: ReturnType<ReadAgain<GatewayConfig>> = { problems: ["nothing was written"] };
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: urls,
    change,
    monotonicMs: () => performance.now() + skippedMs,
    readAgain: () => read,
  });

  return {
    gateway,
    /** The file has these values beside those of the start. */
    write(changes: Partial<GatewayConfig>): void {
      read = { config: { ...gateway.config, ...changes } };
    },
    /** The file cannot be used. */
    spoil(problems: readonly string[]): void {
      read = { problems };
    },
    /** As if a second had passed since the last reload. */
    async reload(query = ""): Promise<{ status: number; body: ReloadTold }> {
      skippedMs += 1000;
      return askReload(gateway, { query });
    },
    async status(): Promise<Status> {
      const response = await fetch(`${gateway.opsUrl}/status`);
      const { config }: { config: Status } = JSON.parse(await response.text());
      return config;
    },
  };
}

export type Status = { loadedAt: string; hash: string; lastReload?: ReloadTold };

/** Writes the shipped method table without some of its lines into a folder. */
export function methodsWithout(folder: string, names: readonly string[]): string {
  const file = join(folder, `methods-without-${names.join("-")}.yaml`);
  const shipped = readFileSync(new URL("../../../config/methods.yaml", import.meta.url), "utf8");
  const lines = shipped.split("\n").filter((line) => !names.some((name) => line.startsWith(`  ${name}:`)));
  writeFileSync(file, lines.join("\n"));
  return file;
}
