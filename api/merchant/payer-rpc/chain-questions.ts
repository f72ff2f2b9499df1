import { LRUCache } from "lru-cache";
import type { z } from "zod";
import { ChainUnavailableError, type RpcClient, type RpcError } from "../../../lib/chain/rpc-client.ts";
import type { Refusal } from "../../../lib/http-service/refusal.ts";
import type { RequestLimiter } from "../../limits/request-limiter.ts";
import { busy, chainAway, type Outcome } from "./outcome.ts";

export type Question = {
  method: string;
  params: readonly unknown[];
  /** What an answer has to look like; anything else is none. */
  result: z.ZodType;
};

export type ChainQuestions = ReturnType<typeof createChainQuestions>;

/** Under which everybody's calls are counted together. */
const everybody = "payer-rpc:everybody";
/** A block is as old at most; every answer is forgotten with the next head before that. */
const keptMs = 1000;
const keptMax = 256;
const keptCharactersMax = 8_388_608;
const messageCharactersMax = 300;
/** What a call reverted with: an error of the FeeCollector takes 68 bytes. */
const revertDigitsMax = 2048;

/**
 * Asks the gateway for all wallets together, with two bounds: calls a minute over all processes, so that strangers cannot use up
 * what the api's key may ask, and calls in flight of this process, so that a slow gateway is not waited for by all of them.
 */
export function createChainQuestions({
  rpc,
  limiter,
  inFlightMax,
  headHash,
}: {
  rpc: Pick<RpcClient, "ask">;
  limiter: RequestLimiter;
  inFlightMax: () => number;
  /** Of the newest block; what was kept is of the block before when it changes. */
  headHash: () => string | undefined;
}) {
  let inFlight = 0;
  const kept = new LRUCache<string, { json: string }>({
    max: keptMax,
    ttl: keptMs,
    maxSize: keptCharactersMax,
    sizeCalculation: ({ json }) => json.length,
  });
  const asked = new Map<string, Promise<Outcome>>();

  /** Work that asks the gateway or the database, within both bounds. */
  async function within(work: () => Promise<Outcome>): Promise<Outcome> {
    if (inFlight >= inFlightMax()) return busy;
    inFlight += 1;
    try {
      const { standing } = await limiter.charge(everybody, 1);
      return standing.allowed ? await work() : spent(standing.resetMs);
    } finally {
      inFlight -= 1;
    }
  }

  /** Throws nothing that a gateway can cause. */
  async function put({ method, params, result }: Question): Promise<Outcome> {
    try {
      const answer = await rpc.ask(method, params);
      if ("error" in answer) return explain(answer.error);
      return result.safeParse(answer.result).success ? { json: JSON.stringify(answer.result) } : chainAway;
    } catch (error) {
      if (error instanceof ChainUnavailableError) return chainAway;
      throw error;
    }
  }

  return {
    within,
    put,

    /** For one wallet. */
    ask: (question: Question) => within(() => put(question)),

    /** What is the same for everybody: asked once at a time, and kept until the next block. */
    async askForAll(question: Question): Promise<Outcome> {
      const key = JSON.stringify([headHash(), question.method, question.params]);
      const known = kept.get(key);
      if (known !== undefined) return known;
      const running = asked.get(key);
      if (running !== undefined) return running;
      const asking = within(() => put(question)).finally(() => asked.delete(key));
      asked.set(key, asking);
      const outcome = await asking;
      if ("json" in outcome) kept.set(key, outcome);
      return outcome;
    },
  };
}

/** A validator's own words are the wallet's business, cut to what a message needs; what the gateway says is ours. */
function explain({ code, message, data, ofGateway }: RpcError): Outcome {
  if (ofGateway || !Number.isSafeInteger(code)) return chainAway;
  const said = message.replaceAll(/\p{Cc}/gu, " ").slice(0, messageCharactersMax);
  const isBytes = typeof data === "string" && data.length <= revertDigitsMax && /^0x[0-9a-f]*$/i.test(data);
  return { error: { code, message: said, ...(isBytes ? { data } : {}) } };
}

function spent(retryAfterMs: number): Refusal {
  return {
    refused: "rate_limited",
    detail:
      "All wallets together have asked as much as this RPC passes on; try again when retryAfterMs is over",
    retryAfterMs,
  };
}
