import { LRUCache } from "lru-cache";
import type { CallToForward } from "../../methods/call.ts";
import type { MethodRule } from "../../methods/method-table.ts";
import { isStreamed, ownWholeAnswer, type UpstreamResult, type WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import { type PoolHead, tierOf } from "./choose.ts";
import { classifyResponse } from "./classify-response.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { readTransaction, type SentTransaction } from "./read-transaction.ts";
import { rendezvousScore } from "./rendezvous.ts";
import { createTurns } from "./turns.ts";
import { type createPlans, createUpstreamCall, type UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Whose call it is, and until when it may be answered. */
type Request = { deadlineMs: number; group: string | undefined };

export type Sends = ReturnType<typeof createSends>;

/** Besu, anvil and geth: the pool has it already. */
const knownWords = /^(known transaction|transaction already imported|already known)/i;
/** Besu says it of a mined transaction too, which is then no failure. */
const nonceTooLowWords = /^nonce too low/i;

const lightLane = 0;
/** Reading a transaction takes 0.25 ms and more: a batch of a hundred must not hold everybody else up. */
const readingSliceMs = 2;
const lookupTimeoutMs = 2000;
/** How long a validator may be behind the head and still get its senders' transactions. */
const behindMsMax = 3000;
/**
 * A validator that was out gets its senders back after this. It comes back with an empty pool, and nobody tells it again
 * what waits in the others': blocks (2 s) have to take that in first, or the next nonce would be one too low. A restart
 * that no call has met counts as well: its connections tell of it.
 */
const settledAfterMs = 5000;

/**
 * Transactions on their way. All of a sender go to the one validator that its address is drawn to among the sound ones,
 * so that its nonces meet in one pool; `eth_sendRawTransaction` is idempotent.
 *
 * The same bytes are offered to another validator only while their request lives, and not once another transaction of
 * the same sender and nonce was sent: at a base fee of zero the same price replaces, so an older one that comes late
 * would undo the newer.
 */
export function createSends({
  validators,
  head,
  dispatcher,
  askInTurn,
  planOf,
  remembered,
  chainId,
  readingsPerGroupMax,
  now,
}: {
  validators: readonly Validator[];
  head: PoolHead;
  dispatcher: Pick<Dispatcher, "submit">;
  askInTurn: AskInTurn;
  planOf: ReturnType<typeof createPlans>;
  remembered: number;
  chainId: number;
  /** Transactions of one key that wait to be read. */
  readingsPerGroupMax: number;
  now: () => number;
}) {
  const latestInSlot = new LRUCache<string, string>({ max: remembered });
  const turns = createTurns({ sliceMs: readingSliceMs, waitingPerGroupMax: readingsPerGroupMax, now });

  function readInTurn(
    paramsText: string,
    group: string | undefined,
  ): Promise<SentTransaction | undefined | "full"> {
    return new Promise((resolve) => {
      const isTaken = turns.take(group ?? "", () => resolve(readTransaction(paramsText, { chainId })));
      if (!isTaken) resolve("full");
    });
  }

  /** One question to one validator. */
  function askOnly(
    validator: Validator,
    question: { rule: MethodRule; paramsText: string; deadlineMs: number; group?: string | undefined },
    { alone }: { alone: boolean },
  ): Promise<{ outcome: UpstreamResult; call: UpstreamCall }> {
    return new Promise((resolve) => {
      dispatcher.submit(
        createUpstreamCall({
          plan: planOf(question.rule),
          paramsText: question.paramsText,
          deadlineMs: question.deadlineMs,
          group: question.group,
          target: validator.index,
          alone,
          settle: (outcome, call) => resolve({ outcome, call }),
        }),
      );
    });
  }

  /** The validator that `name` is drawn to, of the best that are left. */
  function drawn(name: string, excluded: number): Validator | undefined {
    let best: { validator: Validator; tier: number; score: number } | undefined;
    let isSomebodySound = false;
    for (const validator of validators) {
      const tier = steadyTier(validator);
      if (tier <= 1) isSomebodySound = true;
      if (tier === 4 || (validator.bit & excluded) !== 0) continue;
      const score = rendezvousScore(name, validator.url);
      if (best === undefined || tier < best.tier || (tier === best.tier && score > best.score)) {
        best = { validator, tier, score };
      }
    }
    return best !== undefined && best.tier >= 3 && isSomebodySound ? undefined : best?.validator;
  }

  /**
   * Who is out is decided slower than for reads: with each change a sender's nonces meet another pool, which may not have
   * heard of its latest transaction. So neither a moment's silence counts nor a block that comes a little later.
   */
  function steadyTier(validator: Validator): number {
    const tier = tierOf(validator, lightLane, head);
    if (tier >= 3) return tier;
    const lostAtMs = head.connectionLostAtMs?.(validator.label) ?? Number.NEGATIVE_INFINITY;
    if (now() - Math.max(validator.wasOutAtMs, lostAtMs) < settledAfterMs) return 2;
    if (validator.behindSinceMs !== undefined && now() - validator.behindSinceMs > behindMsMax) return 2;
    // At the gateway's start nothing is known of anybody's past: then all are alike, and one that is lost meanwhile is not.
    return now() - (validator.firstInAtMs ?? now()) < settledAfterMs ? 1 : 0;
  }

  /** Whether a validator that has the head knows the receipt. */
  function isMined({ hash }: SentTransaction, { deadlineMs, group }: Request): Promise<boolean> {
    const endsAtMs = Math.min(deadlineMs, now() + lookupTimeoutMs);
    const question = { plan: planOf(receiptRule), paramsText: `["${hash}"]`, deadlineMs: endsAtMs, group };
    return new Promise((resolve) => {
      askInTurn(question, {
        excluded: 0,
        askedMax: validators.length,
        knows: (answer) => classifyResponse(answer).kind === "value",
        done: (answer) => resolve(answer !== undefined),
      });
    });
  }

  /** What a validator said to a transaction, as its sender has to hear it. */
  async function judge(
    answer: WholeAnswer,
    transaction: SentTransaction | undefined,
    request: Request,
  ): Promise<WholeAnswer> {
    const verdict = classifyResponse(answer);
    if (verdict.kind !== "error" || transaction === undefined) return answer;
    const isIn =
      knownWords.test(verdict.message) ||
      (nonceTooLowWords.test(verdict.message) && (await isMined(transaction, request)));
    if (!isIn) return answer;
    return ownWholeAnswer(`"${transaction.hash}"`);
  }

  return {
    /**
     * Asks the validator that gets this sender's transactions, and where that fails the one that would get them then.
     * "unavailable": none answered.
     */
    async askOfSender(
      sender: string,
      question: { rule: MethodRule; paramsText: string; deadlineMs: number; group: string | undefined },
    ): Promise<WholeAnswer | "unavailable" | "crowded"> {
      let tried = 0;
      while (now() < question.deadlineMs) {
        const validator = drawn(sender, tried);
        if (validator === undefined) break;
        tried |= validator.bit;
        const { outcome } = await askOnly(validator, question, { alone: false });
        if (typeof outcome !== "string" && !isStreamed(outcome)) return outcome;
        if (outcome === "crowded") return outcome;
      }
      return "unavailable";
    },

    /**
     * Sends a transaction. "unsent": it has reached no validator. "unavailable": one may have got it, and nobody knows
     * whether it was taken.
     */
    async send(
      { rule, paramsText }: CallToForward,
      { deadlineMs, group }: Request,
    ): Promise<WholeAnswer | "unavailable" | "unsent" | "crowded"> {
      const transaction = await readInTurn(paramsText, group);
      if (transaction === "full") return "crowded";
      if (transaction !== undefined) latestInSlot.set(transaction.slot, transaction.hash);
      const name = transaction?.sender ?? paramsText.slice(0, 200);
      let tried = 0;
      let mayHaveArrived = false;
      while (now() < deadlineMs) {
        // What we cannot read we cannot tell from an older one of its kind.
        const isLatest = transaction !== undefined && latestInSlot.get(transaction.slot) === transaction.hash;
        const validator = drawn(name, tried);
        if (validator === undefined || (mayHaveArrived && !isLatest)) break;
        tried |= validator.bit;
        const { outcome, call } = await askOnly(
          validator,
          { rule, paramsText, deadlineMs, group },
          { alone: true },
        );
        if (typeof outcome !== "string" && !isStreamed(outcome))
          return judge(outcome, transaction, { deadlineMs, group });
        if (outcome === "crowded" && !mayHaveArrived) return outcome;
        mayHaveArrived ||= call.mayHaveArrived;
      }
      return mayHaveArrived ? "unavailable" : "unsent";
    },
  };
}

const receiptRule: MethodRule = {
  name: "eth_getTransactionReceipt",
  permission: "rpc",
  cost: 0,
  bytesPerPoint: 1,
  paramsBytesMax: 100,
  cache: "never",
  lane: "light",
  timeoutMs: lookupTimeoutMs,
  mayAskAgain: true,
  answeredBy: "validator",
  block: undefined,
  shows: undefined,
  trace: undefined,
  blocksMax: undefined,
  wide: undefined,
};
