import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getAddress } from "ethers/address";
import { id } from "ethers/hash";
import { pino } from "pino";
import { createPause } from "../../../faucet/claims/pause.ts";
import { readFaucetConfig } from "../../../faucet/config.ts";
import { start } from "../../../faucet/start.ts";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { startTcpProxy } from "../../../test/fakes/tcp-proxy.ts";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import { type OwnRedis, startOwnRedis } from "../../processes/own-redis.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { once, type Site } from "./explorer-sites.ts";

export type FaucetSite = Site & {
  /** An address that may claim and has not yet. */
  nextAddress(): string;
  /** One whose claims are of another size. */
  generousAddress(): string;
};

export type FaucetSites = {
  faucet: () => Promise<FaucetSite>;
  /** Its payments wait for a block. */
  faucetWaiting: () => Promise<FaucetSite>;
  faucetPaused: () => Promise<FaucetSite>;
  faucetChainAway: () => Promise<FaucetSite>;
  faucetRedisAway: () => Promise<FaucetSite>;
};

const configFile = fileURLToPath(new URL("../../../config/faucet.yaml", import.meta.url));
const addressCount = 60;

/** Faucets in the states that their page tells of; each is started when it is asked for. */
export function openFaucetSites(t: Teardown): FaucetSites {
  let made = 0;
  const freshAddress = () => getAddress(id(`faucet ${made++}`).slice(0, 42));

  async function open(
    befall: (parts: { anvil: OwnAnvil; redis: OwnRedis; cutChain: () => Promise<void> }) => Promise<unknown>,
  ): Promise<FaucetSite> {
    const [anvil, redis, folder] = await Promise.all([
      startOwnAnvil(t),
      startOwnRedis(t, { appendfsync: "always" }),
      mkdtemp(join(tmpdir(), "tollgate-pages-")),
    ]);
    const addresses = Array.from({ length: addressCount }, freshAddress);
    const generous = Array.from({ length: addressCount }, freshAddress);
    const allowlistFile = join(folder, "allowlist.yaml");
    await writeFile(
      allowlistFile,
      JSON.stringify({
        addresses: [
          ...addresses.map((address) => ({ address, label: "person" })),
          ...generous.map((address) => ({ address, label: "team", amount: "25" })),
        ],
      }),
    );
    const port = Number(new URL(anvil.url).port);
    const proxy = await startTcpProxy({ port: () => port, answer: (client, data) => client.write(data) });
    const cutChain = once(() => proxy.stop());
    t.teardown(cutChain);
    const shipped = readFaucetConfig({
      file: configFile,
      env: { REDIS_URL: redis.url, FAUCET_UPSTREAM: `http://127.0.0.1:${proxy.port}` },
    });
    const faucet = await start(
      {
        ...shipped,
        port: 0,
        private: { ...shipped.private, port: 0 },
        ops: { ...shipped.ops, port: 0 },
        allowlistFile,
        explorerUrl: "https://explorer.example",
        contact: "help@tollgate.example",
        // It tells soon that the chain is silent.
        upstreamTimeoutMs: 500,
        pollMs: 20,
        idlePollMs: 100,
        limits: {
          ...shipped.limits,
          perClient: 100_000,
          overall: 1_000_000,
          refusals: 100_000,
        },
      },
      { logger: silent },
    );
    t.teardown(async () => {
      await faucet.stop();
      await rm(folder, { recursive: true, force: true });
    });
    const url = `http://127.0.0.1:${faucet.address.port}`;
    await befall({ anvil, redis, cutChain });
    return {
      url,
      nextAddress: () => takeFrom(addresses),
      generousAddress: () => takeFrom(generous),
    };
  }

  return {
    faucet: once(() => open(async () => {})),
    faucetWaiting: once(() => open(({ anvil }) => anvil.rpc("evm_setAutomine", [false]))),
    faucetPaused: once(() =>
      open(async ({ redis: { url } }) => {
        const redis = createRedisClient({ name: "pages", url, commandTimeoutMs: 1000, logger: silent });
        await waitForRedis({ redis, logger: silent });
        await createPause({ redis }).pause();
        redis.disconnect();
      }),
    ),
    faucetChainAway: once(() => open(({ cutChain }) => cutChain())),
    faucetRedisAway: once(() => open(({ redis }) => redis.stop())),
  };
}

const silent = pino({ level: "silent" });

function takeFrom(addresses: string[]): string {
  const address = addresses.pop();
  if (address === undefined) throw new Error("every address has claimed");
  return address;
}
