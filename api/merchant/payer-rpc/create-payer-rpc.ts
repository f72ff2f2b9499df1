import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { upstreamOf } from "../../../lib/chain/upstream-settings.ts";
import type { BodyReader } from "../../../lib/http-service/body-reader.ts";
import type { ClientAddress } from "../../../lib/http-service/client-address.ts";
import type { Refusal } from "../../../lib/http-service/refusal.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import type { LatestBlock } from "../../chain/latest-block.ts";
import type { ApiConfig } from "../../config.ts";
import type { HeadWatch } from "../../follower/head-watch.ts";
import { createRequestLimiter } from "../../limits/request-limiter.ts";
import { createCarryOut } from "./carry-out.ts";
import { createChainQuestions } from "./chain-questions.ts";
import { createPaymentJudge } from "./judge-payment.ts";
import { createMethods } from "./methods.ts";
import { createPayerRpcMetrics } from "./metrics.ts";
import { isPayerRpcEnabled } from "./payer-rpc-config.ts";
import { createSendTransaction } from "./send-transaction.ts";
import { servePayerRpc } from "./serve-payer-rpc.ts";

const minuteSeconds = 60;
/** Apart from the api's own, which a flood of wallets could else hold. */
const connectionsMax = 2;
/** A block whose 1 400 transactions are told whole has 900 kB. */
const answerBytesMax = 2_097_152;

export type PayerRpc = {
  addTo(
    app: FastifyInstance,
    doors: {
      bodies: Pick<BodyReader, "read">;
      clientAddress: ClientAddress;
      explain: (error: unknown) => Refusal | undefined;
    },
  ): void;
  stop(): Promise<void>;
};

/** What a customer's wallet pays through, without a key; undefined where it is off. */
export function createPayerRpc({
  config,
  redis,
  heads,
  newest,
  registry,
  logger,
}: {
  config: ApiConfig;
  redis: RedisClient;
  heads: Pick<HeadWatch, "head">;
  newest: Pick<LatestBlock, "block">;
  registry: Registry;
  logger: Logger;
}): PayerRpc | undefined {
  const { fees, payerRpc: terms } = config;
  if (fees === undefined || !isPayerRpcEnabled(config)) return undefined;
  const rpc = createRpcClient(upstreamOf(config, { timeoutMs: () => terms.timeoutMs, answerBytesMax }));
  const db = createPostgresPool({ ...config.postgres, connectionsMax, name: "api payer rpc", logger });
  const perMinute = (points: () => number) =>
    createRequestLimiter({ redis, points, windowSeconds: minuteSeconds });
  const questions = createChainQuestions({
    rpc,
    limiter: perMinute(() => terms.sharedCallsPerMinute),
    inFlightMax: () => terms.inFlightMax,
    headHash: () => heads.head()?.hash,
  });
  const judge = createPaymentJudge({
    db,
    feeCollector: fees.feeCollector,
    headTime: () => newest.block()?.timestamp,
  });
  const methods = createMethods({
    questions,
    judge,
    head: () => heads.head()?.number,
    send: createSendTransaction({
      ...{ questions, judge },
      clientLimiter: perMinute(() => terms.transactionsPerMinute),
      sharedLimiter: perMinute(() => terms.sharedTransactionsPerMinute),
    }),
  });
  const metrics = createPayerRpcMetrics(registry, { methods });

  return {
    addTo(app, { bodies, clientAddress, explain }) {
      const carryOut = createCarryOut({
        ...{ methods, metrics, explain, logger },
        limiter: perMinute(() => terms.callsPerMinute),
        inFlightPerClientMax: () => terms.inFlightPerClientMax,
      });
      servePayerRpc(app, {
        carryOut,
        batchItemsMax: () => terms.batchItemsMax,
        bodies,
        clientAddress,
        logger,
      });
    },

    async stop() {
      await db.end();
      await rpc.stop();
    },
  };
}
