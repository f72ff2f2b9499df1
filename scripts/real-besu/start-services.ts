import { tmpdir } from "node:os";
import { findRedis } from "../processes/find-redis.ts";
import { freePort } from "../processes/free-port.ts";
import type { Child } from "../processes/run-child.ts";
import { startRedis } from "../processes/start-redis.ts";
import { startScript } from "./run-script.ts";

const stopWithinMs = 20_000;

/** Redis, gateway and faucet as processes of this machine; answers what stops them. */
export async function startServices({
  env,
  upstreams,
  genesisHash,
  ports,
  key,
}: {
  env: Readonly<Record<string, string | undefined>>;
  /** With commas. */
  upstreams: string;
  genesisHash: string;
  ports: { gateway: number; faucet: number };
  /** A gateway's key for the faucet. */
  key: string;
}): Promise<() => Promise<void>> {
  const children: Child[] = [];
  const onLine = () => {};
  const found = await findRedis({ env, onLine });
  if ("missing" in found) throw new Error(found.missing);
  const redis = await startRedis({
    program: found.program,
    env,
    folder: tmpdir(),
    keepsNothing: true,
    onLine,
  });
  if ("failed" in redis) throw new Error(redis.failed);
  children.push(redis.child);
  const common = { ...env, LOG_LEVEL: "warn" };
  const gateway = {
    UPSTREAMS: upstreams,
    GENESIS_HASH: genesisHash,
    REDIS_URL: redis.url,
    GATEWAY_PORT: String(ports.gateway),
    GATEWAY_OPS_PORT: String(await freePort()),
  };
  children.push(await startScript({ script: "gateway/main.ts", env: { ...common, ...gateway } }));
  const faucet = {
    FAUCET_UPSTREAM: `http://127.0.0.1:${ports.gateway}`,
    FAUCET_UPSTREAM_KEY: key,
    REDIS_URL: `${redis.url}/1`,
    FAUCET_PORT: String(ports.faucet),
    FAUCET_PRIVATE_PORT: String(await freePort()),
    FAUCET_OPS_PORT: String(await freePort()),
  };
  children.push(await startScript({ script: "faucet/main.ts", env: { ...common, ...faucet } }));
  return async () => {
    for (const child of children.toReversed()) await child.stop({ withinMs: stopWithinMs });
  };
}
