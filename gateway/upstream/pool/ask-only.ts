import type { MethodRule } from "../../methods/method-table.ts";
import type { UpstreamResult } from "../upstream-result.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type createPlans, createUpstreamCall, type UpstreamCall } from "./upstream-call.ts";
import type { Validator } from "./validator.ts";

/** Whose call it is, and until when it may be answered. */
export type Caller = { deadlineMs: number; group: string | undefined };
export type SenderCall = Caller & { rule: MethodRule; paramsText: string };

export type AskOnly = ReturnType<typeof createAskOnly>;

/** Makes the function that sends a call to one validator, once. */
export function createAskOnly({
  dispatcher,
  planOf,
}: {
  dispatcher: Pick<Dispatcher, "submit">;
  planOf: ReturnType<typeof createPlans>;
}) {
  return function askOnly(
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
  };
}
