import { LRUCache } from "lru-cache";
import type { CallToForward } from "../../methods/call.ts";
import type { MethodRule } from "../../methods/method-table.ts";
import { isStreamed, ownWholeAnswer, type UpstreamResult, type WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import { classifyResponse } from "./classify-response.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { ValidatorDraw } from "./draw-validator.ts";
import { readTransaction, type SentTransaction } from "./read-transaction.ts";
import { createTurns } from "./turns.ts";
import { type createPlans, createUpstreamCall, type UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Whose call it is, and until when it may be answered. */
type Caller = { deadlineMs: number; group: string | undefined };
type SenderCall = Caller & { rule: MethodRule; paramsText: string };

export type Sends = ReturnType<typeof createSends>;

/** Besu, anvil and geth: the pool has the transaction already. */
const knownWords = /^(known transaction|transaction already imported|already known)/i;
/** Besu says it of a mined transaction too, which has not failed then. */
const nonceTooLowWords = /^nonce too low/i;

/** Reading a transaction takes 0.25 ms and more: a batch of a hundred must not hold everybody else up. */
const readingSliceMs = 2;
const lookupTimeoutMs = 2000;
/** How long a second count of a sender's transactions is waited for. */
const secondCountWithinMs = 500;

/**
 * Sends transactions. All of a sender go to the one validator that its address is drawn to among the sound ones, so that
 * its nonces meet in one pool. `eth_sendRawTransaction` is idempotent.
 *
 * The same bytes go to another validator only while their request lives, and not once another transaction of the same
 * sender and nonce was sent: at a base fee of zero the same price replaces, so an older one that comes late would undo
 * the newer one.
 */
export function createSends({
  validatorCount,
  validatorDraw,
  dispatcher,
  askInTurn,
  planOf,
  remembered,
  chainId,
  readingsPerGroupMax,
  now,
}: {
  validatorCount: number;
  validatorDraw: ValidatorDraw;
  dispatcher: Pick<Dispatcher, "submit">;
  askInTurn: AskInTurn;
  planOf: ReturnType<typeof createPlans>;
  /** How many slots of sender and nonce are remembered. */
  remembered: number;
  chainId: number;
  /** How many transactions of one key may wait to be read. */
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

  /** Sends a call to one validator, once. */
  function askOnly(
    validator: Validator,
    { rule, paramsText, deadlineMs, group }: SenderCall,
    { alone }: { alone: boolean },
  ): Promise<{ result: UpstreamResult; call: UpstreamCall }> {
    return new Promise((resolve) => {
      dispatcher.submit(
        createUpstreamCall({
          plan: planOf(rule),
          paramsText,
          deadlineMs,
          group,
          target: validator.index,
          alone,
          settle: (result, call) => resolve({ result, call }),
        }),
      );
    });
  }

  /** Asks the validators that a sender is drawn to, one after the other, until one answers. */
  async function askDrawn(
    sender: string,
    call: SenderCall,
  ): Promise<{ answer: WholeAnswer; tried: number } | "unavailable" | "crowded"> {
    let tried = 0;
    while (now() < call.deadlineMs) {
      const validator = validatorDraw.draw(sender, tried);
      if (validator === undefined) break;
      tried |= validator.bit;
      const { result } = await askOnly(validator, call, { alone: false });
      if (typeof result !== "string" && !isStreamed(result)) return { answer: result, tried };
      if (result === "crowded") return result;
    }
    return "unavailable";
  }

  /** Whether a validator that has the head knows the receipt. */
  function isMined({ hash }: SentTransaction, { deadlineMs, group }: Caller): Promise<boolean> {
    const endsAtMs = Math.min(deadlineMs, now() + lookupTimeoutMs);
    const question = { plan: planOf(receiptRule), paramsText: `["${hash}"]`, deadlineMs: endsAtMs, group };
    return new Promise((resolve) => {
      askInTurn(question, {
        excluded: 0,
        askedMax: validatorCount,
        knows: (answer) => classifyResponse(answer).kind === "value",
        done: (answer) => resolve(answer !== undefined),
      });
    });
  }

  /** The validator's answer as its sender has to hear it: a transaction that is in the pool, or mined, was taken. */
  async function answerFor(
    answer: WholeAnswer,
    transaction: SentTransaction | undefined,
    caller: Caller,
  ): Promise<WholeAnswer> {
    const response = classifyResponse(answer);
    if (response.kind !== "error" || transaction === undefined) return answer;
    const isTaken =
      knownWords.test(response.message) ||
      (nonceTooLowWords.test(response.message) && (await isMined(transaction, caller)));
    return isTaken ? ownWholeAnswer(`"${transaction.hash}"`) : answer;
  }

  return {
    /**
     * The next nonce of a sender: the validator that gets its transactions is asked, and where it fails the one that would get
     * them then. "unavailable": none answered.
     *
     * While senders move, because a validator was out or is behind, two are asked, and the higher count is answered: the pool
     * that a sender comes to may not have heard of its latest transaction yet.
     */
    async askOfSender(sender: string, call: SenderCall): Promise<WholeAnswer | "unavailable" | "crowded"> {
      const first = await askDrawn(sender, call);
      if (typeof first === "string" || validatorDraw.isCalm())
        return typeof first === "string" ? first : first.answer;
      const next = validatorDraw.draw(sender, first.tried);
      if (next === undefined || !validatorDraw.isSound(next)) return first.answer;
      const deadlineMs = Math.min(call.deadlineMs, now() + secondCountWithinMs);
      const { result } = await askOnly(next, { ...call, deadlineMs }, { alone: false });
      if (typeof result === "string" || isStreamed(result)) return first.answer;
      return countOf(result) > countOf(first.answer) ? result : first.answer;
    },

    /**
     * Sends a transaction. "unsent": it has reached no validator. "unavailable": a validator may have got it, and nobody
     * knows whether it was taken.
     */
    async send(
      { rule, paramsText }: CallToForward,
      { deadlineMs, group }: Caller,
    ): Promise<WholeAnswer | "unavailable" | "unsent" | "crowded"> {
      const transaction = await readInTurn(paramsText, group);
      if (transaction === "full") return "crowded";
      if (transaction !== undefined) latestInSlot.set(transaction.slot, transaction.hash);
      const name = transaction?.sender ?? paramsText.slice(0, 200);
      let tried = 0;
      let mayHaveArrived = false;
      while (now() < deadlineMs) {
        // An unreadable transaction cannot be told from an older one of its slot.
        const isLatest = transaction !== undefined && latestInSlot.get(transaction.slot) === transaction.hash;
        const validator = validatorDraw.draw(name, tried);
        if (validator === undefined || (mayHaveArrived && !isLatest)) break;
        tried |= validator.bit;
        const senderCall = { rule, paramsText, deadlineMs, group };
        const { result, call } = await askOnly(validator, senderCall, { alone: true });
        if (typeof result !== "string" && !isStreamed(result))
          return answerFor(result, transaction, { deadlineMs, group });
        if (result === "crowded" && !mayHaveArrived) return result;
        mayHaveArrived ||= call.mayHaveArrived;
      }
      return mayHaveArrived ? "unavailable" : "unsent";
    },
  };
}

/** A quantity that a validator answered; -1 for anything else. */
function countOf({ afterId }: WholeAnswer): number {
  const digits = /"result"\s*:\s*"0x([0-9a-fA-F]{1,12})"/.exec(afterId)?.[1];
  return digits === undefined ? -1 : Number.parseInt(digits, 16);
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
