import type { Logger } from "pino";
import { createRpcClient } from "../lib/chain/rpc-client.ts";
import { upstreamOf } from "../lib/chain/upstream-settings.ts";
import { network } from "../lib/network.ts";
import { createRedisClient } from "../lib/redis/redis-client.ts";
import { createAllowlistStore } from "./allowlist/allowlist-store.ts";
import { createWalletChain } from "./chain/wallet-chain.ts";
import { createAdmission } from "./claims/admission.ts";
import { createAttempts } from "./claims/attempts.ts";
import { createClaimIds } from "./claims/claim-ids.ts";
import { createPaymentStore } from "./claims/payment-store.ts";
import type { FaucetConfig } from "./config.ts";
import { createFaucetMetrics } from "./metrics.ts";
import { openWallet } from "./wallet.ts";

export type FaucetParts = Awaited<ReturnType<typeof createFaucetParts>>;

/**
 * The parts that take claims and pay them. They read `config` as they need it: a reload changes it in place. Sends no request yet. @throws Error where the wallet cannot be opened.
 */
export async function createFaucetParts(
  config: FaucetConfig,
  { logger, redisNow }: { logger: Logger; redisNow: (() => number) | undefined },
) {
  const { limits, idempotencyMs } = config;
  const wallet = await openWallet({ source: config.wallet, chainId: network.chainId, fees: config.fees });
  const redis = createRedisClient({
    url: config.redis,
    name: "tollgate-faucet",
    commandTimeoutMs: config.redisCommandTimeoutMs,
    logger,
  });
  const rpc = createRpcClient(upstreamOf(config));
  const ids = createClaimIds({ secret: wallet.secretFor("claim ids"), idempotencyMs });
  return {
    wallet,
    redis,
    rpc,
    metrics: createFaucetMetrics(),
    chain: createWalletChain({ rpc, wallet: wallet.address }),
    store: createPaymentStore({ redis, settings: config, now: redisNow }),
    allowlist: createAllowlistStore({ redis }),
    attempts: createAttempts({ redis, limits }),
    admission: createAdmission({ redis, ids, settings: config, idempotencyMs, now: redisNow }),
  };
}
