import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAnvil } from "./start-anvil.ts";
import type { Teardown } from "./teardown.ts";
import { startParentWatch } from "./watch-parent.ts";

export type OwnAnvil = {
  url: string;
  port: number;
  pid: number;
  /** Rejects where the node answers with an error. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
};

/**
 * A real dev chain on a free loopback port, which ends with its owner. It mines on each transaction unless it has a
 * block time.
 */
export async function startOwnAnvil(
  t: Teardown,
  {
    chainId = 8845,
    blockTimeSeconds,
    genesisTimestampSeconds,
    genesisFile,
    recordsSteps = false,
  }: {
    chainId?: number;
    blockTimeSeconds?: number;
    genesisTimestampSeconds?: number;
    genesisFile?: string;
    recordsSteps?: boolean;
  } = {},
): Promise<OwnAnvil> {
  const cacheFolder = await mkdtemp(join(tmpdir(), "tollgate-anvil-"));
  const watch = await startParentWatch();
  const node = await startAnvil({
    env: process.env,
    port: 0,
    chainId,
    cacheFolder,
    blockTimeSeconds: blockTimeSeconds ?? "on demand",
    ...{ genesisFile, recordsSteps },
    ...(genesisTimestampSeconds === undefined ? {} : { genesisTimestampSeconds }),
    onLine: () => {},
    onChild: ({ pid }) => watch.remember(pid),
  });
  if ("failed" in node) throw new Error(node.failed);
  const stop = async () => {
    node.child.kill();
    await node.child.ended;
  };
  t.teardown(async () => {
    await stop();
    await watch.stop();
    await rm(cacheFolder, { recursive: true, force: true });
  });
  return {
    url: node.url,
    port: node.port,
    pid: node.child.pid,
    rpc: (method, params = []) => node.rpc(method, params),
    stop,
  };
}
