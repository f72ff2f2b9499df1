import { randomBytes } from "node:crypto";
import { readBloom } from "../../lib/chain/log-bloom.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { countValues } from "../logs/log-criteria.ts";
import { createLogIndex } from "../logs/log-index.ts";
import type { NewHead } from "../upstream/head/publish-heads.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { AskChain } from "./ask-chain.ts";
import { createBlockLogs } from "./block-logs.ts";
import { createLogBudget, type LogBudgetSettings } from "./log-budget.ts";
import { createNotification, subscriptionIdChars } from "./notification.ts";
import { createLogNotifier } from "./notify-logs.ts";
import { createPendingNotifier } from "./pending/notify-pending.ts";
import type { PendingTransactions } from "./pending/pending-transactions.ts";
import { readSubscriptionRequest, type SubscriptionRequest } from "./read-subscription-request.ts";
import { createSubscriberList, type Subscriber, type Subscription } from "./subscriber-list.ts";

export type SubscriptionRegistry = {
  /** Makes a subscription. It gets no notification before `start`: its client must have its id first. */
  subscribe(subscriber: Subscriber, params: readonly unknown[], keyId: string): Subscription | Refusal;
  start(subscription: Subscription): void;
  /** False where this subscriber has no such subscription. */
  unsubscribe(subscriber: Subscriber, id: unknown): boolean;
  /** The subscriber is gone, with all its subscriptions. */
  leave(subscriber: Subscriber): void;
  count(kind: SubscriptionRequest["kind"]): number;
  /** Addresses and topics that subscriptions of logs name. */
  logValues(): number;
  notificationsSent(): number;
  stop(): void;
};

/** Named in the README and in the reason of the close code. */
const blocksBehindMax = 128;

export type SubscriptionRegistryOptions = {
  upstream: Pick<Upstream, "onHead" | "onEpoch">;
  askChain: AskChain;
  pending: Pick<PendingTransactions, "follow">;
  /** Read anew for each subscription. */
  settings: Readonly<LogBudgetSettings & { subscriptionsPerConnectionMax: number }>;
};

/**
 * Notifies subscribers of each announced head: a subscriber gets each block and each log that it wants exactly once and in
 * order, whichever validators fail. When that cannot be kept (too many blocks were missed, another chain began) its socket
 * is closed with a reason.
 *
 * A block costs at most one request for its logs, and one text for each block or log, however many subscribe.
 */
export function createSubscriptionRegistry(options: SubscriptionRegistryOptions): SubscriptionRegistry {
  const { upstream, askChain, pending, settings } = options;
  const index = createLogIndex<Subscription>();
  const budget = createLogBudget(settings);
  const list = createSubscriberList({
    perSubscriberMax: () => settings.subscriptionsPerConnectionMax,
    onRemoved(subscription) {
      const { keyId, request } = subscription;
      index.remove(subscription);
      if (request.kind === "logs") budget.giveBack(keyId, valuesOf(request));
    },
  });
  const notifyLogs = createLogNotifier({ index, list });
  const hashes = createPendingNotifier({ askChain, list, pending });
  let lastNumber = -1n;

  const blockLogs = createBlockLogs({
    askChain,
    blocksBehindMax,
    deliver: notifyLogs,
    onBehind: () => endBehind(["logs"]),
  });
  const stopListening = [upstream.onHead(notifyHead), upstream.onEpoch(endAll)];

  function notifyHead(head: NewHead): void {
    lastNumber = head.number;
    if (head.skipped > 0n) {
      blockLogs.clear();
      endBehind(["newHeads", "logs"]);
    }
    if (list.count("newHeads") > 0) {
      const notifications = [createNotification(JSON.stringify(head.block))];
      list.notify((request) => (request.kind === "newHeads" ? notifications : []));
    }
    if (list.count("logs") === 0) return;
    if (index.mayMatch(readBloom(head.block["logsBloom"]))) blockLogs.add(head);
  }

  function endBehind(kinds: readonly SubscriptionRequest["kind"][]): void {
    list.end("behind", ({ request }) => kinds.includes(request.kind));
  }

  function endAll(): void {
    lastNumber = -1n;
    blockLogs.clear();
    list.end("chainEnded", () => true);
  }

  return {
    subscribe(subscriber, params, keyId) {
      const request = readSubscriptionRequest(params);
      if (isRefusal(request)) return request;
      if (!list.hasRoom(subscriber)) return tooManySubscriptions(settings.subscriptionsPerConnectionMax);
      const refused = request.kind === "logs" ? budget.take(keyId, valuesOf(request)) : undefined;
      if (refused !== undefined) return refused;
      const subscription: Subscription = { id: newId(), keyId, subscriber, request, after: undefined };
      list.add(subscription);
      hashes.follow();
      return subscription;
    },
    start(subscription) {
      subscription.after = lastNumber;
      const { subscriber, id, request } = subscription;
      // Its connection may be gone.
      if (request.kind === "logs" && list.find(subscriber, id) !== undefined)
        index.add(subscription, request.criteria);
    },
    unsubscribe(subscriber, id) {
      const subscription = typeof id === "string" ? list.find(subscriber, id) : undefined;
      if (subscription === undefined) return false;
      list.remove(subscription);
      hashes.follow();
      return true;
    },
    leave(subscriber) {
      list.removeAll(subscriber);
      hashes.follow();
    },
    count: list.count,
    logValues: budget.values,
    notificationsSent: list.notificationsSent,
    stop() {
      for (const stop of stopListening) stop();
      blockLogs.clear();
      hashes.stop();
    },
  };
}

/** Criteria without any value match every log. */
function valuesOf({ criteria }: SubscriptionRequest & { kind: "logs" }): number {
  return Math.max(1, countValues(criteria));
}

/** Random, so that no client can guess another's. */
function newId(): string {
  return `0x${randomBytes((subscriptionIdChars - 2) / 2).toString("hex")}`;
}

function tooManySubscriptions(most: number): Refusal {
  return refusal(
    "rate_limited",
    `A connection may have at most ${most} subscriptions; end one with eth_unsubscribe`,
  );
}
