import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { LatestBlock } from "../chain/latest-block.ts";
import type { ApiConfig } from "../config.ts";
import type { HeadWatch } from "../follower/head-watch.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import { createKeyLookUp } from "./api-keys/key-look-up.ts";
import { createKeyUse } from "./api-keys/key-use.ts";
import { readDashboard } from "./dashboard/read-dashboard.ts";
import type { LedgerStanding } from "./ledger/standing.ts";
import type { MerchantKeys } from "./open-merchant-keys.ts";
import { createOrders } from "./orders/orders.ts";
import { createPurchaseGate } from "./purchase-gate.ts";

/** Orders, keys and dashboards, wired; and what lets a request in by its key. */
export function createMerchant({
  config: { svcDev, profile, stalledAfterMs },
  merchantKeys,
  redis,
  pool,
  reader,
  heads,
  newest,
  ledger,
  logger,
  now,
}: {
  config: Pick<ApiConfig, "svcDev" | "profile" | "stalledAfterMs">;
  /** Undefined: nothing is sold here. */
  merchantKeys: MerchantKeys | undefined;
  redis: Redis;
  pool: PostgresPool;
  reader: ChainReader;
  heads: Pick<HeadWatch, "isAnswering">;
  newest: Pick<LatestBlock, "block">;
  /** How the ledger stands. */
  ledger: () => Pick<LedgerStanding, "epoch" | "refused" | "waitsFor">;
  logger: Logger;
  now: () => number;
}) {
  const headMs = () => (newest.block()?.timestamp ?? 0) * 1000;
  const isRedisAway = () => redis.status !== "ready";
  const gate = createPurchaseGate({
    isSelling: merchantKeys !== undefined,
    isRedisAway,
    isChainAway: () => !heads.isAnswering() || newest.block() === undefined,
    isStalled: () => now() - headMs() > stalledAfterMs,
    ledger,
  });
  const orders = createOrders({
    ...{ pool, reader, gate, merchantKeys },
    terms: {
      prices: svcDev.packages,
      validMs: svcDev.orderSeconds * 1000,
      openMax: svcDev.openOrdersMax,
      activeKeysMax: svcDev.activeKeysMax,
    },
    // A development chain's time may have been moved ahead.
    clock: () => Math.max(now(), headMs()),
  });
  const lookUp = createKeyLookUp({ redis, db: pool });
  const keys = createApiKeys({
    ...{ pool, orders, lookUp, profile, isRedisAway, now },
    sealer: merchantKeys?.sealer,
    secretAgainMs: svcDev.secretAgainSeconds * 1000,
  });
  const { activeKeysMax } = svcDev;
  const dashboard = {
    read: (wallet: string) => readDashboard({ db: pool, wallet, activeKeysMax, nowMs: now() }),
  };
  return { services: { orders, keys, dashboard }, lookUp, keyUse: createKeyUse({ db: pool, logger, now }) };
}
