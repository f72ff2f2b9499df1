import type { Logger } from "pino";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { LatestBlock } from "../chain/latest-block.ts";
import type { ApiConfig } from "../config.ts";
import type { HeadWatch } from "../follower/head-watch.ts";
import { createRequestLimiter } from "../limits/request-limiter.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import type { IssuePoint } from "./api-keys/issue-key.ts";
import { createKeyLookUp } from "./api-keys/key-look-up.ts";
import { createKeyUse } from "./api-keys/key-use.ts";
import { createCheckout } from "./checkout/customer-invoice.ts";
import { readAttention } from "./dashboard/read-attention.ts";
import { readDashboard } from "./dashboard/read-dashboard.ts";
import { createEvents } from "./events/create-events.ts";
import { createCollectBox } from "./invoices/collect-box.ts";
import { createCollector } from "./invoices/collector.ts";
import { createInvoices } from "./invoices/invoices.ts";
import { createRates } from "./invoices/rates.ts";
import type { LedgerStanding } from "./ledger/standing.ts";
import type { MerchantKeys } from "./open-merchant-keys.ts";
import type { OrderTerms } from "./orders/open-order.ts";
import { createOrders } from "./orders/orders.ts";
import { createPurchaseGate } from "./purchase-gate.ts";
import { createSettings } from "./settings/settings.ts";
import { createWalletTurns } from "./wallet-turns.ts";
import type { SendWebhook } from "./webhooks/send-webhook.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";

const minuteSeconds = 60;

/** Orders, keys, invoices and dashboards, wired; and what lets a request in by its key. */
export function createMerchant({
  config,
  merchantKeys,
  redis,
  pool,
  rpc,
  reader,
  heads,
  newest,
  ledger,
  delivery,
  logger,
  now,
  atPoint,
}: {
  /** What a reload changes of it is read when it is needed. */
  config: Pick<
    ApiConfig,
    "svcDev" | "live" | "invoices" | "ledger" | "publicUrl" | "profile" | "stalledAfterMs"
  >;
  /** Undefined: nothing is sold here. */
  merchantKeys: MerchantKeys | undefined;
  redis: RedisClient;
  pool: PostgresPool;
  rpc: Pick<RpcClient, "ask">;
  reader: ChainReader;
  heads: Pick<HeadWatch, "isAnswering">;
  newest: Pick<LatestBlock, "block">;
  /** How the ledger stands. */
  ledger: () => Pick<LedgerStanding, "epoch" | "refused" | "waitsFor">;
  delivery: { send: SendWebhook; httpsOnly: boolean };
  logger: Logger;
  now: () => number;
  atPoint?: ((point: IssuePoint) => void) | undefined;
}) {
  const { svcDev, invoices: invoiceTerms, ledger: ledgerTerms, publicUrl, profile } = config;
  const headMs = () => (newest.block()?.timestamp ?? 0) * 1000;
  const isRedisAway = () => redis.status !== "ready";
  const gate = createPurchaseGate({
    isSelling: merchantKeys !== undefined,
    isRedisAway,
    isChainAway: () => !heads.isAnswering() || newest.block() === undefined,
    isStalled: () => now() - headMs() > config.stalledAfterMs,
    ledger,
  });
  // A development chain's time may have been moved ahead.
  const clock = () => Math.max(now(), headMs());
  const turns = createWalletTurns();
  const orders = createOrders({
    ...{ pool, reader, gate, turns, merchantKeys },
    terms: orderTermsOf(svcDev),
    clock,
  });
  const secretAgainMs = () => svcDev.secretAgainSeconds * 1000;
  const lookUp = createKeyLookUp({ redis, db: pool });
  const keys = createApiKeys({
    ...{ pool, orders, lookUp, turns, profile, isRedisAway, now, atPoint },
    sealer: merchantKeys?.sealer,
    secretAgainMs,
  });
  const dashboard = {
    read: (wallet: string) =>
      readDashboard({ db: pool, wallet, activeKeysMax: svcDev.activeKeysMax, nowMs: now() }),
    attention: (wallet: string) => readAttention({ db: pool, wallet, nowMs: now() }),
  };
  const rates = createRates({ settings: invoiceTerms.rates, now, logger });
  const collectBox = createCollectBox({ rpc, reader });
  const invoices = createInvoices({
    ...{ pool, gate, turns, rates, merchantKeys, collectBox, publicUrl, clock },
    terms: () => ({ ...invoiceTerms, boxesMax: ledgerTerms.boxesMax }),
    isDevelopment: profile === "development",
  });
  const webhooks = createWebhooks({
    ...{ pool, orders, turns, now, ...delivery },
    sealer: merchantKeys?.sealer,
    testLimiter: createRequestLimiter({
      redis,
      points: () => svcDev.webhooks.testsPerMinute,
      windowSeconds: minuteSeconds,
    }),
    secretAgainMs,
  });
  const events = createEvents({
    ...{ db: pool, logger, now },
    settings: svcDev.events,
    heartbeatMs: config.live.heartbeatMs,
  });
  return {
    services: {
      orders,
      keys,
      dashboard,
      invoices,
      webhooks,
      events,
      settings: createSettings({ pool, turns }),
    },
    events,
    checkout: createCheckout({ pool, gate, clock }),
    rates,
    collector: createCollector({ db: pool, collectBox, logger }),
    lookUp,
    keyUse: createKeyUse({ db: pool, logger, now }),
  };
}

/** What orders are made with, as the configuration says by then. */
function orderTermsOf(svcDev: ApiConfig["svcDev"]): OrderTerms {
  return {
    get prices() {
      return svcDev.packages;
    },
    get webhookPrice() {
      return svcDev.webhookPrice;
    },
    get validMs() {
      return svcDev.orderSeconds * 1000;
    },
    get openMax() {
      return svcDev.openOrdersMax;
    },
    get activeKeysMax() {
      return svcDev.activeKeysMax;
    },
  };
}
