import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import type { AnswerBudget, AnswerHold } from "../answer-budget/answer-budget.ts";
import { boundRefusals, unmetRefusal } from "../answer-budget/bound-refusals.ts";
import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { checkBlockRange, travelsAs } from "../methods/block-parameter/block-range.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { AskChain } from "../subscriptions/ask-chain.ts";
import type { PendingTransactions } from "../subscriptions/pending/pending-transactions.ts";
import { isRecord } from "../upstream/head/read-header.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { usualBeforeId } from "../upstream/upstream-result.ts";
import { createFilterStore, type FilterKind, type FilterName } from "./filter-store.ts";
import { readLogFilter } from "./log-filter.ts";
import { type AskLogs, blockCursor, createPoll } from "./poll.ts";
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

/** A poll that loses to a faster one begins again behind it, at most this often. */
const attemptsMax = 3;

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
  redis: Redis;
  upstream: Pick<Upstream, "ask" | "headNumber" | "onHead" | "onEpoch">;
  askChain: AskChain;
  pending: Pick<PendingTransactions, "end" | "after">;
  methods: Pick<MethodTable, "rules">;
  answerBudget: Pick<AnswerBudget, "open">;
  settings: FilterSettings;
  logger: Pick<Logger, "warn">;
}): Filters {
  const { perKeyMax, bytesPerKeyMax, blocksPerPollMax } = settings;
  const store = createFilterStore({ redis, settings });
  const blocks = createRecentBlocks({ upstream, askChain });
  const poll = createPoll({ blocks, pending, blocksPerPollMax });

  async function create(kind: FilterKind, key: FoundKey, criteria = ""): Promise<Answer | Refusal> {
    const head = blocks.head();
    if (kind !== "pending" && head === undefined) return nobodyAnswered;
    const cursor = head === undefined || kind === "pending" ? await pending.end() : blockCursor(head);
    const made = await store.create(key.id, { kind, criteria, cursor });
    if (made === "tooLarge") {
      return refusal(
        "rate_limited",
        `The filters of this API key together may have at most ${bytesPerKeyMax} bytes; remove one with eth_uninstallFilter, or name fewer addresses and topics`,
        { data: { bytesPerKeyMax } },
      );
    }
    if (made !== "tooMany") return ownAnswer(`"${made.id}"`);
    return refusal(
      "rate_limited",
      `This API key has ${perKeyMax} filters, its limit; remove one with eth_uninstallFilter`,
    );
  }

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

  /** Logs for a poll. They count until the cursor has moved; `hold` has to be released then. */
  function askLogsFor(keyId: string, hold: AnswerHold): AskLogs {
    return async (filter, blocksSpanned) => {
      const rule = methods.rules.get("eth_getLogs");
      if (rule === undefined) return undefined;
      const paramsText = JSON.stringify([filter]);
      const answer = await ask(keyId, { rule: travelsAs(rule, blocksSpanned), paramsText });
      if (answer === undefined || isRefusal(answer)) return answer;
      if (!isList(answer)) return undefined;
      const bound = hold.take(answer, answer.afterId.length);
      return bound === undefined ? answer : boundRefusals[bound];
    };
  }

  async function changes(name: FilterName): Promise<Answer | Refusal> {
    const hold = answerBudget.open(name.keyId);
    try {
      return await pollUntilTold(name, askLogsFor(name.keyId, hold));
    } finally {
      hold.release();
    }
  }

  async function pollUntilTold(name: FilterName, askLogs: AskLogs): Promise<Answer | Refusal> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const row = await store.read(name);
      if (row === undefined) return filterNotFound;
      const step = await poll(name, row, askLogs);
      if (step === "unanswered") return nobodyAnswered;
      if (step === "ended") {
        await store.remove(name);
        return filterNotFound;
      }
      if (isRefusal(step)) return step;
      const isTold =
        step.cursor === row.cursor || (await store.move(name, { before: row.cursor, next: step.cursor }));
      if (isTold) return step.answer;
    }
    // Another poll was faster each time, and has answered with what there was.
    return ownAnswer("[]");
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

/** Whether a result is a list. In what validators write its first byte says so; anything else is parsed. */
function isList({ beforeId, afterId }: Answer): boolean {
  if (beforeId === usualBeforeId && afterId.startsWith(',"result":')) return afterId.charAt(10) === "[";
  const response: unknown = JSON.parse(Buffer.from(`${beforeId}0${afterId}`, "latin1").toString("utf8"));
  return isRecord(response) && Array.isArray(response["result"]);
}

// Besu's words and number: clients know a filter that has ended by them, and make it anew.
const filterNotFound = refusal("filter_not_found", "Filter not found");
const nobodyAnswered = refusal("upstream_unavailable", "No validator answered in time; try again shortly");
