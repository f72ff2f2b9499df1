import { pino } from "pino";
import { createAnswerBudget } from "../../../gateway/answer-budget/answer-budget.ts";
import { answerSettingsSchema } from "../../../gateway/answer-budget/answer-settings.ts";
import { createFilters } from "../../../gateway/filters/filters.ts";
import type { CallToForward } from "../../../gateway/methods/call.ts";
import { readMethodTable } from "../../../gateway/methods/method-table.ts";
import type { PendingTransactions } from "../../../gateway/subscriptions/pending/pending-transactions.ts";
import { ownWholeAnswer } from "../../../gateway/upstream/upstream-result.ts";
import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import { createHeadFeed, type ScriptedChain } from "../../fakes/scripted-chain.ts";

const methods = readMethodTable(new URL("../../../config/methods.yaml", import.meta.url).pathname);

/** Makes gateways as far as filters go; several can share the Redis and the chain. */
export function createFilterGateways({
  redis,
  pending,
}: {
  redis: RedisClient;
  pending: PendingTransactions;
}) {
  return (
    chain: ScriptedChain,
    { idleMsMax = 300_000, blocksPerPollMax = 256, filtersPerKeyMax = 3, keyBytesMax = 1_000_000 } = {},
  ) => {
    const desk = createHeadFeed();
    const asked: string[] = [];
    const askChain: ScriptedChain["ask"] = (method, params) => {
      asked.push(method);
      return chain.ask(method, params);
    };
    const bytesPerKeyMax = 10_000;
    const upstream = {
      ...desk.upstream,
      async ask({ rule, paramsText }: CallToForward) {
        const told = await askChain(rule.name, JSON.parse(paramsText));
        return told === undefined ? ("unavailable" as const) : ownWholeAnswer(JSON.stringify(told.result));
      },
    };
    const filters = createFilters({
      redis,
      upstream,
      askChain,
      pending,
      methods,
      answerBudget: createAnswerBudget(answerSettingsSchema.parse({ keyBytesMax })),
      settings: { perKeyMax: filtersPerKeyMax, bytesPerKeyMax, idleMsMax, blocksPerPollMax },
      logger: pino({ level: "silent" }),
    });
    const call = async (method: string, params: readonly unknown[] = [], id = "k_core"): Promise<unknown> => {
      const rule = methods.rules.get(method);
      if (rule === undefined) throw new Error(method);
      const answer = await filters.answer({ rule, paramsText: JSON.stringify(params) }, keyOf(id));
      return "refused" in answer ? answer : JSON.parse(`{"id":0${answer.afterId}`).result;
    };
    return { ...desk, asked, call };
  };
}

function keyOf(id: string): FoundKey {
  return {
    id,
    hash: "0".repeat(64),
    team: "tests",
    label: "",
    permissions: ["rpc"],
    qa: false,
    createdAtMs: 0,
    profile: "development",
    teamSettings: { name: "tests" },
  };
}
