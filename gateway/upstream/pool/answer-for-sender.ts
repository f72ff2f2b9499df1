import type { MethodRule } from "../../methods/method-table.ts";
import { ownWholeAnswer, type WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import type { Caller } from "./ask-only.ts";
import { classifyResponse } from "./classify-response.ts";
import type { SentTransaction } from "./read-transaction.ts";
import type { createPlans } from "./upstream-call.ts";

/** Besu, anvil and geth: the pool has the transaction already. */
const knownWords = /^(known transaction|transaction already imported|already known)/i;
/** Besu says it of a mined transaction too, which has not failed then. */
const nonceTooLowWords = /^nonce too low/i;

const lookupTimeoutMs = 2000;

/** Makes the function that turns a validator's answer to a transaction into what its sender has to hear. */
export function createAnswerForSender({
  validatorCount,
  askInTurn,
  planOf,
  now,
}: {
  validatorCount: () => number;
  askInTurn: AskInTurn;
  planOf: ReturnType<typeof createPlans>;
  now: () => number;
}) {
  /** Whether a validator that has the head knows the receipt. */
  function isMined({ hash }: SentTransaction, { deadlineMs, group }: Caller): Promise<boolean> {
    const endsAtMs = Math.min(deadlineMs, now() + lookupTimeoutMs);
    const receiptCall = { plan: planOf(receiptRule), paramsText: `["${hash}"]`, deadlineMs: endsAtMs, group };
    return new Promise((resolve) => {
      askInTurn(receiptCall, {
        excluded: 0,
        askedMax: validatorCount(),
        knows: (answer) => classifyResponse(answer).kind === "value",
        done: (answer) => resolve(answer !== undefined),
      });
    });
  }

  /** A transaction that is in the pool, or mined, was taken. */
  return async function answerFor(
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
