import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { CallToForward } from "../methods/call.ts";
import type { Subscriber, Subscription } from "./subscriber-list.ts";
import type { SubscriptionRegistry } from "./subscription-registry.ts";

/** Who asks over a WebSocket, and what the frame under way has subscribed to so far. */
export type FrameCaller = { subscriber: Subscriber; made: Subscription[] };

/** Answers `eth_subscribe` and `eth_unsubscribe`; `caller` is undefined where they come over HTTP. */
export function answerSubscription(
  { rule, paramsText }: Pick<CallToForward, "rule" | "paramsText">,
  {
    subscriptions,
    keyId,
    caller,
    isNotification,
  }: {
    subscriptions: SubscriptionRegistry;
    keyId: string;
    caller: FrameCaller | undefined;
    isNotification: boolean;
  },
): Answer | Refusal {
  if (caller === undefined) return needsWebSocket;
  const read: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
  const params: readonly unknown[] = Array.isArray(read) ? read : [];
  if (rule.name === "eth_unsubscribe") {
    return subscriptions.unsubscribe(caller.subscriber, params[0]) ? ownAnswer("true") : subscriptionNotFound;
  }
  // Nobody would ever know its id.
  if (isNotification) return needsId;
  const subscription = subscriptions.subscribe(caller.subscriber, params, keyId);
  if (isRefusal(subscription)) return subscription;
  caller.made.push(subscription);
  return ownAnswer(`"${subscription.id}"`);
}

const needsWebSocket = refusal(
  "method_forbidden",
  "Subscriptions need a WebSocket: connect to this address as one",
);
const needsId = refusal("invalid_request", "eth_subscribe needs an id: its answer names the subscription");
// Besu's words and number.
const subscriptionNotFound = refusal("subscription_not_found", "Subscription not found");
