import { isStreamed, type UpstreamResult, type WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import type { PoolHead } from "./choose.ts";
import { classifyResponse, isValue, type ResponseClass } from "./classify-response.ts";
import { lightLane, slowLane } from "./lanes.ts";
import { blockMustExist, saysUnknownBlock } from "./must-exist.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** A block that must exist and that one validator does not have is asked of so many others. */
const behindRetriesMax = 2;

/** JSON-RPC's "Internal error": https://www.jsonrpc.org/specification#error_object */
const internalErrorCode = -32603;

/** Their `null` may mean that only one validator knows of it yet. */
const asksAllBeforeNull = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt"]);

/**
 * "Nothing there" is checked with other validators, where something may be there or must be; so is an internal error, which Besu
 * answers to a read that meets the import of a block (eth_estimateGas, about one in a thousand under load).
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
  /** Whether the answer leaves no doubt: nearly all do. */
  function isSure(call: UpstreamCall, verdict: ResponseClass): boolean {
    const { rule } = call.plan;
    // A trace is put to one validator, whatever it says.
    if (rule.trace !== undefined) return true;
    if (isInternal(verdict)) return !mayBeRepeated(call);
    if (asksAllBeforeNull.has(rule.name)) return verdict.kind !== "null";
    if (rule.block === undefined || !saysUnknownBlock(verdict)) return true;
    return !blockMustExist({ rule, paramsText: call.paramsText, head: head.announced()?.number });
  }

  /**
   * An internal error may be what a call does to its validator: one that could cost it much, by its lane or by the time that it
   * took, and one that was lost with another validator before, is put to no other.
   */
  function mayBeRepeated({ plan: { lane }, losses, sentAtMs, target }: UpstreamCall): boolean {
    if (losses > 0 || target !== undefined || lane === slowLane) return false;
    return lane === lightLane || now() - sentAtMs < runMsMax;
  }

  function count(reason: "behind" | "internal_error", lastValidator: number): void {
    const validator = validators[lastValidator];
    if (validator !== undefined) validator.stats.failures[reason] += 1;
  }

  /** Asks one other, alone; where that one says so too, or says nothing, it is the answer. */
  function checkInternal(
    answer: WholeAnswer,
    call: UpstreamCall,
    deliver: (answer: UpstreamResult) => void,
  ): void {
    count("internal_error", call.lastValidator);
    // As one that was lost once: if it ends the second validator, it is put to no third.
    const losses = call.plan.lane === lightLane ? 0 : 1;
    const { plan, paramsText, deadlineMs, group } = call;
    askInTurn(
      { plan, paramsText, deadlineMs, group, losses },
      {
        excluded: validators[call.lastValidator]?.bit ?? 0,
        askedMax: 1,
        knows(other, lastValidator) {
          const isSame = isInternal(classifyResponse(other));
          if (isSame) count("internal_error", lastValidator);
          return !isSame;
        },
        done: (other, unmet) => deliver(other ?? (unmet === "lost" ? unmet : answer)),
      },
    );
  }

  /** Asks others; what the first said stays where they know no better. */
  function check(answer: WholeAnswer, call: UpstreamCall, deliver: (answer: WholeAnswer) => void): void {
    const isOfHash = asksAllBeforeNull.has(call.plan.rule.name);
    if (isInternal(classifyResponse(answer))) count("internal_error", call.lastValidator);
    else if (!isOfHash) count("behind", call.lastValidator);
    let said = answer;
    askInTurn(call, {
      excluded: validators[call.lastValidator]?.bit ?? 0,
      askedMax: isOfHash ? validators.length : behindRetriesMax,
      knows(other, lastValidator) {
        const verdict = classifyResponse(other);
        if (isOfHash) {
          // That nobody knows it says more than that one could not look.
          if (verdict.kind === "null") said = other;
          return verdict.kind === "value";
        }
        const isBehind = saysUnknownBlock(verdict);
        if (isBehind) count("behind", lastValidator);
        return !isBehind;
      },
      done: (other) => deliver(other ?? said),
    });
  }

  /** Settles a call: at once where there is no doubt, as nearly always. */
  return function makeSure(outcome: UpstreamResult, call: UpstreamCall): void {
    const { deliver = ignore } = call;
    // Nothing is looked up and nothing is made for an answer that is a value.
    if (typeof outcome === "string" || isStreamed(outcome) || isValue(outcome)) deliver(outcome);
    else {
      const verdict = classifyResponse(outcome);
      if (isSure(call, verdict)) deliver(outcome);
      else if (isInternal(verdict) && !asksAllBeforeNull.has(call.plan.rule.name)) {
        checkInternal(outcome, call, deliver);
      } else check(outcome, call, deliver);
    }
  };
}

function isInternal(verdict: ResponseClass): boolean {
  return verdict.kind === "error" && verdict.code === internalErrorCode;
}

function ignore(): void {}
