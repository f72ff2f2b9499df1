import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { createClientAddress, limitAddress } from "../lib/client-address.ts";
import { network } from "../lib/network.ts";
import { type Readiness, startOpsServer } from "../lib/ops-server.ts";
import { createRedisClient, waitForRedis } from "../lib/redis-client.ts";
import { isRedisFailure } from "../lib/redis-failure.ts";
import { createAllowlistStore } from "./allowlist/allowlist-store.ts";
import { watchAllowlist } from "./allowlist/watch-allowlist.ts";
import { createRpcClient } from "./chain/rpc-client.ts";
import { createWalletChain } from "./chain/wallet-chain.ts";
import { checkChain } from "./check-chain.ts";
import { redisDoubt } from "./check-redis.ts";
import { createAdmission } from "./claims/admission.ts";
import { adoptChain } from "./claims/adopt-chain.ts";
import { createPaymentStore, type PaymentStore } from "./claims/payment-store.ts";
import type { FaucetConfig } from "./config.ts";
import { type FaucetServerOptions, startFaucetServer } from "./http/faucet-server.ts";
import { createScopes } from "./http/scopes.ts";
import { measureStatus } from "./measure-status.ts";
import { createFaucetMetrics } from "./metrics.ts";
import { createPage } from "./page/page.ts";
import { createLeader } from "./payer/leader.ts";
import { type Payer, startPayer } from "./payer/payer.ts";
import type { PayPoint } from "./payer/payer-context.ts";
import { createStatusReader, type StatusView } from "./read-status.ts";
import { createTakeClaim, type TakePoint } from "./take-claim.ts";
import { openWallet } from "./wallet.ts";

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
  /** Lets answers and the step of a payment that is under way end, then closes everything. */
  stop(): Promise<void>;
};

/** Between two steps, where a crash must not do harm. */
export type CrashPoint = TakePoint | PayPoint;

const firstLookWithinMs = 10_000;
const firstLookPollMs = 10;
const redisRetryMs = 100;

/**
 * Starts a faucet: ops server first, then, once Redis and the chain answer, the payer and the two listeners.
 * @throws WrongChainError where Redis belongs to another network and `adopt` is not given; Error where a port is taken or
 * the wallet cannot be opened.
 */
export async function start(
  config: FaucetConfig,
  {
    logger,
    adopt = false,
    now = Date.now,
    redisNow,
    atPoint = () => {},
  }: {
    logger: Logger;
    /** Takes the chain as it is, also where Redis belongs to another one. */
    adopt?: boolean;
    now?: () => number;
    /** Replaces Redis's clock in tests. */
    redisNow?: () => number;
    /** Ends the process in crash tests. */
    atPoint?: (point: CrashPoint) => void | Promise<void>;
  },
): Promise<Faucet> {
  const { redis: redisUrl, redisCommandTimeoutMs: commandTimeoutMs, limits, recordsKeptMs } = config;
  const metrics = createFaucetMetrics();
  const wallet = await openWallet({ source: config.wallet, chainId: network.chainId, fees: config.fees });
  const redis = createRedisClient({ url: redisUrl, name: "tollgate-faucet", commandTimeoutMs, logger });
  const rpc = createRpcClient({
    url: config.upstream,
    apiKey: config.upstreamApiKey,
    timeoutMs: config.upstreamTimeoutMs,
  });
  const chain = createWalletChain({ rpc, wallet: wallet.address });
  const store = createPaymentStore({ redis, recordsKeptMs, windowMs: limits.windowMs, now: redisNow });
  const allowlist = createAllowlistStore({ redis });
  const admission = createAdmission({
    redis,
    limits,
    queueMax: config.queueMax,
    idempotencyMs: config.idempotencyMs,
    now: redisNow,
  });
  let state: "starting" | "serving" | "stopping" = "starting";
  let payer: Payer | undefined;
  let doubt: string | undefined;

  const closers: (() => unknown)[] = [() => redis.disconnect(), () => rpc.stop()];
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  const reasons = () => [
    ...(redis.status === "ready" ? [] : ["Redis does not answer"]),
    ...(payer?.problems() ?? []),
  ];
  const readiness = (): Readiness => {
    const ready = state === "serving";
    return { ready, degraded: reasons().length > 0, reasons: ready ? reasons() : [state, ...reasons()] };
  };

  try {
    const ops = await startOpsServer({
      ...config.ops,
      registry: metrics.registry,
      readiness,
      status: () => ({
        process: "faucet",
        state,
        profile: config.profile,
        wallet: wallet.address,
        leader: payer?.isLeader() ?? false,
        problems: reasons(),
        redisDoubt: doubt ?? null,
      }),
    });
    closers.unshift(() => ops.stop());
    const genesisHash = await untilRedisAnswers({ redis, logger }, async () => {
      doubt = await redisDoubt(redis);
      if (adopt) logger.warn(await adoptChain({ redis, recordsKeptMs }), "the chain is adopted as it is");
      return checkChain({ chain, store, wallet: wallet.address, logger });
    });
    if (doubt !== undefined)
      logger.warn({ doubt }, "after a crash of Redis, claims may be lost or paid twice");
    const watch = await watchAllowlist({
      file: config.allowlistFile,
      store: allowlist,
      pollMs: config.allowlistPollMs,
      logger,
    });
    closers.push(() => watch.stop());

    payer = startPayer({
      store,
      chain,
      wallet,
      genesisHash,
      metrics,
      logger,
      now,
      atPoint,
      leader: createLeader({ redis, leaderMs: config.leaderMs }),
      inFlightMax: config.inFlightMax,
      giveUpAfterMs: config.giveUpAfterMs,
      windowMs: limits.windowMs,
      pollMs: config.pollMs,
      idlePollMs: config.idlePollMs,
      resendAfterMs: config.resendAfterMs,
    });
    const started = payer;
    closers.push(() => started.stop());
    const status = createStatusReader({
      redis,
      config,
      address: wallet.address,
      admission,
      allowlist,
      allowlistProblem: watch.problem,
    });
    const measuring = measureStatus({
      status: status.read,
      metrics,
      logger,
      paymentsWait: () => started.problems().length > 0,
    });
    closers.push(() => measuring.stop());

    const takeClaim = createTakeClaim({
      allowlist,
      admission,
      chain,
      metrics,
      logger,
      atPoint,
      readBalance: status.readBalance,
      amountWei: config.amount,
      feeMaxWei: wallet.feeMaxWei,
      wakePayer: started.wake,
    });
    const listeners = await startListeners({ config, takeClaim, admission, status: status.read, logger });
    closers.push(() => listeners.stop());
    await firstLook({ store });
    state = "serving";
    return {
      address: {
        ...listeners.address,
        opsHost: ops.host,
        opsPort: ops.port,
        wallet: wallet.address,
      },
      async stop() {
        state = "stopping";
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The listener for everybody, with the page, and the one for gateways. */
async function startListeners({
  config,
  ...shared
}: { config: FaucetConfig } & Pick<FaucetServerOptions, "takeClaim" | "admission" | "logger"> & {
    status: () => Promise<StatusView>;
  }) {
  const { bodyBytesMax, limits, trustedProxies, host, port } = config;
  const scopes = createScopes({ clientAddress: createClientAddress({ trustedProxies }), limitAddress });
  const common = { ...shared, bodyBytesMax, windowMs: limits.windowMs };
  const inside = await startFaucetServer({
    ...common,
    ...config.private,
    scopeOf: scopes.ofTeam,
    page: undefined,
  });
  try {
    const outside = await startFaucetServer({
      ...common,
      host,
      port,
      scopeOf: scopes.ofClient,
      page: createPage({ config, status: shared.status }),
    });
    return {
      address: {
        host: outside.host,
        port: outside.port,
        privateHost: inside.host,
        privatePort: inside.port,
      },
      stop: () => Promise.all([outside.stop(), inside.stop()]),
    };
  } catch (error) {
    await inside.stop();
    throw error;
  }
}

/** The first claim should be taken; where the payer cannot look at the chain yet, the faucet serves all the same. */
async function firstLook({ store }: { store: PaymentStore }): Promise<void> {
  const giveUpAtMs = performance.now() + firstLookWithinMs;
  const isMissing = () => store.nonce().then((nonce) => nonce === undefined, isRedisFailure);
  while (performance.now() < giveUpAtMs && (await isMissing())) await sleep(firstLookPollMs);
}

/** A Redis that goes away while the faucet starts is waited for as one that was not there. */
async function untilRedisAnswers<Value>(
  { redis, logger }: { redis: Redis; logger: Logger },
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
