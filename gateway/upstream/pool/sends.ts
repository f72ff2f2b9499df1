import { LRUCache } from "lru-cache";
import type { CallToForward } from "../../methods/call.ts";
import { isStreamed, type WholeAnswer } from "../upstream-result.ts";
import { createAnswerForSender } from "./answer-for-sender.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import { type Caller, createAskOnly } from "./ask-only.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { ValidatorDraw } from "./draw-validator.ts";
import { readTransaction, type SentTransaction } from "./read-transaction.ts";
import { createSenderNonces } from "./sender-nonces.ts";
import { createTurns } from "./turns.ts";
import type { createPlans } from "./upstream-call.ts";

export type Sends = ReturnType<typeof createSends>;

/** Reading a transaction takes 0.25 ms and more: a batch of a hundred must not hold everybody else up. */
const readingSliceMs = 2;

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
  validatorCount: () => number;
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
  const askOnly = createAskOnly({ dispatcher, planOf });
  const answerFor = createAnswerForSender({ validatorCount, askInTurn, planOf, now });
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

  return {
    /** The next nonce of a sender: see `createSenderNonces`. */
    askOfSender: createSenderNonces({ validatorDraw, askOnly, now }),

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
