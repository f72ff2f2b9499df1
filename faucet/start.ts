import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { faucetData } from "../lib/redis/data-migrations.ts";
import { durabilityWarning } from "../lib/redis/durability.ts";
import { migrateRedisData } from "../lib/redis/migrate-data.ts";
import { type RedisClient, waitForRedis } from "../lib/redis/redis-client.ts";
import { isRedisFailure } from "../lib/redis/redis-failure.ts";
import { answerReload } from "../lib/reload/answer-reload.ts";
import { registerReloadMetrics } from "../lib/reload/reload-metrics.ts";
import type { ReadAgain, Reloader } from "../lib/reload/reloader.ts";
import { checkFaucetChain } from "./check-chain.ts";
import { adoptChain } from "./claims/adopt-chain.ts";
import type { PaymentStore } from "./claims/payment-store.ts";
import type { FaucetConfig } from "./config.ts";
import { createFaucetParts, type FaucetParts } from "./faucet-parts.ts";
import type { Payer } from "./payer/payer.ts";
import { createFaucetReloader } from "./reload.ts";
import { type CrashPoint, serve } from "./serve.ts";

export type Faucet = {
  address: {
    host: string;
    port: number;
    privateHost: string;
    privatePort: number;
    opsHost: string;
    opsPort: number;
    wallet: string;
  };
  /** Reads the configuration again as soon as it may: see `Reloader`. */
  reloadSoon(): void;
  /** Lets answers and the step of a payment that is under way end, then closes everything. */
  stop(): Promise<void>;
};

const firstLookWithinMs = 10_000;
const firstLookPollMs = 10;
const redisRetryMs = 100;

/** How far the faucet is, for its ops server. */
type Progress = {
  state: "starting" | "serving" | "stopping";
  payer: Payer | undefined;
  /** Why Redis may lose its last writes in a crash. */
  durabilityWarning: string | undefined;
  reloader: Reloader | undefined;
};

/**
 * Starts a faucet: ops server first, then, once Redis and the chain answer, the payer and the two listeners.
 * @throws WrongChainError where Redis belongs to another network and `adopt` is not given; Error where a port is taken or
 * the wallet cannot be opened.
 */
export async function start(
  given: FaucetConfig,
  {
    logger,
    readAgain = () => ({ problems: ["this process was started without a file"] }),
    adopt = false,
    now = Date.now,
    redisNow,
    atPoint = () => {},
  }: {
    logger: Logger;
    /** Reads the configuration once more, for a reload. */
    readAgain?: ReadAgain<FaucetConfig>;
    /** Accepts the chain, even if Redis belongs to another one. */
    adopt?: boolean;
    now?: () => number;
    /** Replaces Redis's clock in tests. */
    redisNow?: () => number;
    /** Ends the process in crash tests. */
    atPoint?: (point: CrashPoint) => void | Promise<void>;
  },
): Promise<Faucet> {
  // A reload changes it in place.
  const config = structuredClone(given);
  const parts = await createFaucetParts(config, { logger, redisNow });
  const { redis, rpc, chain, store, wallet } = parts;
  const progress: Progress = {
    state: "starting",
    payer: undefined,
    durabilityWarning: undefined,
    reloader: undefined,
  };
  registerReloadMetrics({ registry: parts.metrics.registry, reloader: () => progress.reloader });
  const closers: (() => unknown)[] = [() => redis.disconnect(), () => rpc.stop()];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const ops = await startOps({ config, parts, progress });
    closers.unshift(() => ops.stop());
    await migrateRedisData({ redis, data: faucetData, logger });
    const genesisHash = await untilRedisAnswers({ redis, logger }, async () => {
      progress.durabilityWarning = await durabilityWarning(redis);
      if (adopt) {
        const { recordsKeptMs } = config;
        logger.warn(await adoptChain({ redis, recordsKeptMs }), "the chain is adopted as it is");
      }
      return checkFaucetChain({ chain, store, wallet: wallet.address, logger });
    });
    if (progress.durabilityWarning !== undefined) {
      const level = config.profile === "production" ? "warn" : "info";
      logger[level](
        { warning: progress.durabilityWarning },
        "after a crash of Redis, claims may be lost or paid twice",
      );
    }
    const onStop = (stop: () => unknown) => void closers.push(stop);
    const serving = await serve({ config, parts, genesisHash, logger, now, atPoint, onStop });
    progress.payer = serving.payer;
    await firstLook({ store });
    const { allowlist } = serving;
    const reloader = createFaucetReloader({ running: config, readAgain, allowlist, logger });
    onStop(() => reloader.stop());
    Object.assign(progress, { state: "serving", reloader } satisfies Partial<Progress>);
    return {
      reloadSoon: reloader.reloadSoon,
      address: { ...serving.address, opsHost: ops.host, opsPort: ops.port, wallet: wallet.address },
      async stop() {
        Object.assign(progress, { state: "stopping", reloader: undefined } satisfies Partial<Progress>);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function startOps({
  config: { ops, profile },
  parts: { redis, metrics, wallet },
  progress,
}: {
  config: FaucetConfig;
  parts: FaucetParts;
  progress: Progress;
}) {
  const reasons = () => [
    ...(redis.status === "ready" ? [] : ["Redis does not answer"]),
    ...(progress.payer?.problems() ?? []),
  ];
  return startOpsServer({
    ...ops,
    registry: metrics.registry,
    readiness(): Readiness {
      const ready = progress.state === "serving";
      const found = reasons();
      return { ready, degraded: found.length > 0, reasons: ready ? found : [progress.state, ...found] };
    },
    status: () => ({
      process: "faucet",
      state: progress.state,
      profile,
      config: progress.reloader?.status() ?? null,
      wallet: wallet.address,
      leader: progress.payer?.isLeader() ?? false,
      problems: reasons(),
      durabilityWarning: progress.durabilityWarning ?? null,
    }),
    reload: (options) => answerReload(progress.reloader, options),
  });
}

/** Waits so that the first claim can be taken. If the payer cannot look at the chain yet, the faucet serves all the same. */
async function firstLook({ store }: { store: PaymentStore }): Promise<void> {
  const giveUpAtMs = performance.now() + firstLookWithinMs;
  const isMissing = () => store.nonce().then((nonce) => nonce === undefined, isRedisFailure);
  while (performance.now() < giveUpAtMs && (await isMissing())) await sleep(firstLookPollMs);
}

/** A Redis that goes away during the start is waited for, like one that was not there. */
async function untilRedisAnswers<Value>(
  { redis, logger }: { redis: RedisClient; logger: Logger },
  prepare: () => Promise<Value>,
): Promise<Value> {
  for (;;) {
    await waitForRedis({ redis, logger });
    try {
      return await prepare();
    } catch (error) {
      if (!isRedisFailure(error)) throw error;
      await sleep(redisRetryMs);
    }
  }
}
