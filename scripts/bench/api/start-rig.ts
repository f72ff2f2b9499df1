import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { createIndex } from "../../soak/follower-crashes/create-index.ts";
import { until } from "../../soak/follower-crashes/until.ts";
import { makeChain } from "./prepare-chain.ts";
import { indexedBlock, type Server, startApiServer } from "./start-server.ts";

export type Rig = {
  anvil: OwnAnvil;
  /** An API that keeps its answers, and one that cannot. */
  kept: Server;
  unkept: Server;
  height: number;
  /** The number of a block with transactions. */
  fullBlock: number;
  /** For files that go with the rig. */
  folder: string;
};

/** Two APIs over one chain of full blocks and empty ones, which is indexed. */
export async function startRig(t: Teardown): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-api-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [anvil, redis, postgres] = await Promise.all([
    startOwnAnvil(t),
    startOwnRedis(t),
    startOwnPostgres(t),
  ]);
  const fullBlock = await makeChain(anvil);
  const height = Number(await anvil.rpc("eth_blockNumber"));
  const services = {
    redisUrl: redis.url,
    postgresUrl: await createIndex(postgres.url, "bench_api"),
    upstream: anvil.url,
  };
  const kept = await startApiServer(t, { name: "kept", folder, cacheBytesMax: 67_108_864, services });
  const unkept = await startApiServer(t, { name: "unkept", folder, cacheBytesMax: 1, services });
  await until("the chain is indexed", async () => (await indexedBlock(kept)) === height);
  return { anvil, kept, unkept, height, fullBlock, folder };
}
