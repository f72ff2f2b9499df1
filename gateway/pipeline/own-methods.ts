import type { FoundKey } from "../../lib/keys/key-reader.ts";
import type { Filters } from "../filters/filters.ts";
import type { Answer } from "../json-rpc/answer.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { CallToForward } from "../methods/call.ts";
import { answerSubscription, type FrameCaller } from "../subscriptions/answer-subscription.ts";
import type { SubscriptionRegistry } from "../subscriptions/subscription-registry.ts";

/** A call of a method that the gateway answers itself. */
export type OwnCall = CallToForward & { isNotification: boolean };

/** Answers by `rule.answeredBy`; `caller` is undefined over HTTP. Never rejects. */
export type AnswerOwnMethod = (
  call: OwnCall,
  asker: { key: FoundKey; caller: FrameCaller | undefined },
) => Promise<Answer | Refusal>;

export function createOwnMethods({
  filters,
  subscriptions,
}: {
  filters: Filters;
  subscriptions: SubscriptionRegistry;
}): AnswerOwnMethod {
  return async (call, { key, caller }) =>
    call.rule.answeredBy === "filters"
      ? filters.answer(call, key)
      : answerSubscription(call, {
          subscriptions,
          keyId: key.id,
          caller,
          isNotification: call.isNotification,
        });
}
