import type { Logger } from "pino";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import type { AnswerBudget } from "../answer-budget/answer-budget.ts";
import { unmetRefusal } from "../answer-budget/bound-refusals.ts";
import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { checkBlockRange } from "../methods/block-parameter/block-range.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { AskChain } from "../subscriptions/ask-chain.ts";
import type { PendingTransactions } from "../subscriptions/pending/pending-transactions.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { createFilterMaker } from "./create-filter.ts";
import { createFilterChanges } from "./filter-changes.ts";
import { filterNotFound, nobodyAnswered } from "./filter-refusals.ts";
import { createFilterStore, type FilterName } from "./filter-store.ts";
import { readLogFilter } from "./log-filter.ts";
import { createPoll } from "./poll.ts";
import { createRecentBlocks } from "./recent-blocks.ts";

export type Filters = {
  /** Answers a call of one of the filter methods. Never rejects. */
  answer(call: Pick<CallToForward, "rule" | "paramsText">, key: FoundKey): Promise<Answer | Refusal>;
  stop(): void;
};

/** Each is explained in `config/gateway.yaml`. */
export type FilterSettings = {
  perKeyMax: number;
  bytesPerKeyMax: number;
  idleMsMax: number;
  blocksPerPollMax: number;
};

/** The six methods of filters over rows in Redis: see `filter-store.ts`. */
export function createFilters({
  redis,
  upstream,
  askChain,
  pending,
  methods,
  answerBudget,
  settings,
  logger,
}: {
  redis: RedisClient;
  upstream: Pick<Upstream, "ask" | "headNumber" | "onHead" | "onEpoch">;
  askChain: AskChain;
  pending: Pick<PendingTransactions, "end" | "after">;
  methods: Pick<MethodTable, "rules">;
  answerBudget: Pick<AnswerBudget, "open">;
  settings: FilterSettings;
  logger: Pick<Logger, "warn">;
}): Filters {
  const store = createFilterStore({ redis, settings });
  const blocks = createRecentBlocks({ upstream, askChain });
  const create = createFilterMaker({ store, blocks, pending, settings });
  const changes = createFilterChanges({
    store,
    poll: createPoll({ blocks, pending, blocksPerPollMax: () => settings.blocksPerPollMax }),
    askLogs: ask,
    methods,
    answerBudget,
  });

  async function createLogFilter([value]: readonly unknown[], key: FoundKey): Promise<Answer | Refusal> {
    const filter = readLogFilter(value);
    return isRefusal(filter) ? filter : create("logs", key, JSON.stringify(filter.members));
  }

  async function ask(
    keyId: string,
    call: Pick<CallToForward, "rule" | "paramsText">,
  ): Promise<Answer | Refusal | undefined> {
    const answer = await upstream.ask({ kind: "forward", ...call }, { group: keyId, mayStream: false });
    if (typeof answer === "string") return unmetRefusal(answer);
    return "start" in answer ? undefined : answer;
  }

  async function logs(name: FilterName, key: FoundKey): Promise<Answer | Refusal> {
    const row = await store.read(name);
    const rule = methods.rules.get("eth_getLogs");
    if (row?.kind !== "logs" || rule === undefined) return filterNotFound;
    const range = checkBlockRange({
      rule,
      paramsText: `[${row.criteria}]`,
      permissions: key.permissions,
      headNumber: upstream.headNumber,
    });
    if (isRefusal(range)) return range;
    return (await ask(key.id, { rule, ...range })) ?? nobodyAnswered;
  }

  async function carryOut(
    method: string,
    params: readonly unknown[],
    key: FoundKey,
  ): Promise<Answer | Refusal> {
    switch (method) {
      case "eth_newFilter":
        return createLogFilter(params, key);
      case "eth_newBlockFilter":
        return create("blocks", key);
      case "eth_newPendingTransactionFilter":
        return create("pending", key);
    }
    const [id] = params;
    if (typeof id !== "string") return refusal("invalid_params", "The first parameter must be a filter's id");
    // What cannot be an id of ours is no name for a key in Redis.
    if (!/^0x[0-9a-f]{32}$/.test(id))
      return method === "eth_uninstallFilter" ? ownAnswer("false") : filterNotFound;
    const name = { keyId: key.id, id };
    if (method === "eth_uninstallFilter") return ownAnswer(String(await store.remove(name)));
    return method === "eth_getFilterLogs" ? logs(name, key) : changes(name);
  }

  return {
    async answer({ rule, paramsText }, key) {
      const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
      try {
        return await carryOut(rule.name, Array.isArray(params) ? params : [], key);
      } catch (error) {
        logger.warn({ err: error, method: rule.name }, "a filter could not be reached");
        return refusal("service_unavailable", "Filters are not available at the moment; try again shortly");
      }
    },
    stop: blocks.stop,
  };
}
