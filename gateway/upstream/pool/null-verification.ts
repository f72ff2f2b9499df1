import { isStreamed, type UpstreamResult, type WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import type { PoolHead } from "./choose.ts";
import { classifyResponse, isValue, type ResponseClass } from "./classify-response.ts";
import { createInternalErrors, isInternal } from "./internal-errors.ts";
import { blockMustExist, saysUnknownBlock } from "./must-exist.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** So many others are asked for a block that must exist and that one validator does not have. */
const behindRetriesMax = 2;

/** Methods whose `null` may mean that only another validator knows of the transaction yet. */
const asksAllBeforeNull = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt"]);

/**
 * Makes the function that verifies a result before the caller gets it. "Nothing there" is verified with other validators
 * where something may be there or must be. So is an internal error, which Besu answers to a read that meets the import of a
 * block (eth_estimateGas, about one in a thousand under load).
 */
export function createNullVerification({
  validators,
  head,
  askInTurn,
  settings: { runMsMax },
  now,
}: {
  validators: readonly Validator[];
  head: PoolHead;
  askInTurn: AskInTurn;
  settings: Pick<PoolSettings, "runMsMax">;
  now: () => number;
}) {
  /** Whether the answer needs no verification: nearly all need none. */
  function isSure(call: UpstreamCall, response: ResponseClass): boolean {
    const { rule } = call.plan;
    // A trace goes to one validator, whatever its answer.
    if (rule.trace !== undefined) return true;
    if (isInternal(response)) return !internalErrors.mayBeRepeated(call);
    if (asksAllBeforeNull.has(rule.name)) return response.kind !== "null";
    if (rule.block === undefined || !saysUnknownBlock(response)) return true;
    return !blockMustExist({ rule, paramsText: call.paramsText, head: head.announced()?.number });
  }

  const internalErrors = createInternalErrors({ validators, askInTurn, runMsMax, now, count });

  function count(reason: "behind" | "internal_error", lastValidator: number): void {
    const validator = validators[lastValidator];
    if (validator !== undefined) validator.stats.failures[reason] += 1;
  }

  /** Asks other validators. The first answer counts where they know no better. */
  function check(answer: WholeAnswer, call: UpstreamCall, deliver: (answer: WholeAnswer) => void): void {
    const isOfHash = asksAllBeforeNull.has(call.plan.rule.name);
    if (isInternal(classifyResponse(answer))) count("internal_error", call.lastValidator);
    else if (!isOfHash) count("behind", call.lastValidator);
    let said = answer;
    askInTurn(call, {
      excluded: validators[call.lastValidator]?.bit ?? 0,
      askedMax: isOfHash ? validators.length : behindRetriesMax,
      knows(other, lastValidator) {
        const response = classifyResponse(other);
        if (isOfHash) {
          // A later `null` says more than a first internal error.
          if (response.kind === "null") said = other;
          return response.kind === "value";
        }
        const isBehind = saysUnknownBlock(response);
        if (isBehind) count("behind", lastValidator);
        return !isBehind;
      },
      done: (other) => deliver(other ?? said),
    });
  }

  /** Delivers a result: at once where it needs no verification, which is nearly always. */
  return function verify(result: UpstreamResult, call: UpstreamCall): void {
    const { deliver = ignore } = call;
    // A value needs neither a look-up nor a new object.
    if (typeof result === "string" || isStreamed(result) || isValue(result)) deliver(result);
    else {
      const response = classifyResponse(result);
      if (isSure(call, response)) deliver(result);
      else if (isInternal(response) && !asksAllBeforeNull.has(call.plan.rule.name)) {
        internalErrors.check(result, call, deliver);
      } else check(result, call, deliver);
    }
  };
}

function ignore(): void {}
