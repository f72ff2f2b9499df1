import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { AnswerBudget } from "../answer-budget/answer-budget.ts";
import type { GatewayConfig } from "../config.ts";
import { createFilterStore } from "../filters/filter-store.ts";
import { createFilters } from "../filters/filters.ts";
import { createRecentBlocks } from "../filters/recent-blocks.ts";
import type { MethodTable } from "../methods/method-table.ts";
import { type AnswerOwnMethod, createOwnMethods } from "../pipeline/own-methods.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { createAskChain } from "./ask-chain.ts";
import { createPendingTransactions } from "./pending/pending-transactions.ts";
import { publishSends } from "./pending/publish-sends.ts";
import { createSubscriptionRegistry, type SubscriptionRegistry } from "./subscription-registry.ts";

export type ChainNews = {
  subscriptions: SubscriptionRegistry;
  answerOwnMethod: AnswerOwnMethod;
  /** The validators, whose taken transactions are told to everybody. */
  upstream: Upstream;
  stop(): void;
};

/** All that tells of new blocks, logs and transactions: subscriptions and filters, over the announced heads. */
export function createChainNews({
  upstream,
  redis,
  methods,
  answerBudget,
  config: { filters, webSocket },
  logger,
}: {
  upstream: Upstream;
  redis: Redis;
  methods: MethodTable;
  answerBudget: Pick<AnswerBudget, "open">;
  config: Pick<GatewayConfig, "filters" | "webSocket">;
  logger: Logger;
}): ChainNews {
  const askChain = createAskChain({ upstream, methods });
  const pending = createPendingTransactions({ redis });
  const blocks = createRecentBlocks({ upstream, askChain });
  const subscriptions = createSubscriptionRegistry({ upstream, askChain, pending, settings: webSocket });
  const { perKeyMax: filtersPerKeyMax, bytesPerKeyMax, idleMsMax, blocksPerPollMax } = filters;
  const store = createFilterStore({ redis, idleMsMax, filtersPerKeyMax, bytesPerKeyMax });
  const limits = { filtersPerKeyMax, bytesPerKeyMax, blocksPerPollMax };
  const answerOwnMethod = createOwnMethods({
    subscriptions,
    filters: createFilters({
      store,
      blocks,
      pending,
      upstream,
      methods,
      answerBudget,
      ...limits,
      logger,
    }),
  });
  return {
    subscriptions,
    answerOwnMethod,
    upstream: publishSends(upstream, pending),
    stop() {
      subscriptions.stop();
      blocks.stop();
    },
  };
}
