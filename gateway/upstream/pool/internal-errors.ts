import type { UpstreamResult, WholeAnswer } from "../upstream-result.ts";
import type { AskInTurn } from "./ask-in-turn.ts";
import { classifyResponse, type ResponseClass } from "./classify-response.ts";
import { lightLane, slowLane } from "./lanes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** JSON-RPC's "Internal error": https://www.jsonrpc.org/specification#error_object */
const internalErrorCode = -32603;

export function isInternal(response: ResponseClass): boolean {
  return response.kind === "error" && response.code === internalErrorCode;
}

/** Verifies an internal error with one other validator, unless the call may have caused it. */
export function createInternalErrors({
  validators,
  askInTurn,
  runMsMax,
  now,
  count,
}: {
  validators: readonly Validator[];
  askInTurn: AskInTurn;
  runMsMax: number;
  now: () => number;
  /** Counts a validator's failure. */
  count: (reason: "internal_error", validatorIndex: number) => void;
}) {
  /**
   * The call itself may cause an internal error. So a call goes to no other validator where it may cost much, by its lane or
   * by the time that it took, or where it was lost with another validator before.
   */
  function mayBeRepeated({ plan: { lane }, losses, sentAtMs, target }: UpstreamCall): boolean {
    if (losses > 0 || target !== undefined || lane === slowLane) return false;
    return lane === lightLane || now() - sentAtMs < runMsMax;
  }

  /** Asks one other validator, alone. Where that one answers the same or nothing, the first answer counts. */
  function check(answer: WholeAnswer, call: UpstreamCall, deliver: (answer: UpstreamResult) => void): void {
    count("internal_error", call.lastValidator);
    // Counts as lost once: if it ends the second validator too, it goes to no third one.
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

  return { mayBeRepeated, check };
}
