import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { readBloom } from "../logs/log-bloom.ts";
import { countValues } from "../logs/log-criteria.ts";
import { createLogIndex } from "../logs/log-index.ts";
import type { Log } from "../logs/read-logs.ts";
import type { NewHead } from "../upstream/head/publish-heads.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { AskChain } from "./ask-chain.ts";
import { createBlockLogs } from "./block-logs.ts";
import { createLogBudget, type LogBudgetSettings } from "./log-budget.ts";
import { createNotification, type Notification, subscriptionIdChars } from "./notification.ts";
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

/**
 * How much work for logs one turn of the event loop does, so that a block with many logs or subscribers holds nothing up.
 * To look at a subscription counts as one, to notify it as `notifyWork`. About 2 ms.
 */
const workPerTurn = 2000;
const notifyWork = 20;

/**
 * Notifies subscribers of each announced head: a subscriber gets each block and each log that it wants exactly once and in
 * order, whichever validators fail. When that cannot be kept (too many blocks were missed, another chain began) its socket
 * is closed with a reason.
 *
 * A block costs at most one request for its logs, and one text for each block or log, however many subscribe.
 */
export function createSubscriptionRegistry({
  upstream,
  askChain,
  pending,
  settings: { subscriptionsPerConnectionMax, ...logBounds },
}: {
  upstream: Pick<Upstream, "onHead" | "onEpoch">;
  askChain: AskChain;
  pending: Pick<PendingTransactions, "follow">;
  settings: LogBudgetSettings & { subscriptionsPerConnectionMax: number };
}): SubscriptionRegistry {
  const index = createLogIndex<Subscription>();
  const budget = createLogBudget(logBounds);
  const list = createSubscriberList({
    perSubscriberMax: subscriptionsPerConnectionMax,
    onRemoved(subscription) {
      const { keyId, request } = subscription;
      index.remove(subscription);
      if (request.kind === "logs") budget.giveBack(keyId, valuesOf(request));
    },
  });
  let lastNumber = -1n;
  let stopFollowing: (() => void) | undefined;

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

  async function notifyLogs({ number }: NewHead, logs: readonly Log[], isOver: () => boolean): Promise<void> {
    let due = new Map<Subscription, Notification[]>();
    let work = 0;
    for (const log of logs) {
      let notification: Notification | undefined;
      const looked = index.find(log, (subscription) => {
        if (subscription.after === undefined || subscription.after >= number) return;
        notification ??= createNotification(JSON.stringify(log.written));
        const notifications = due.get(subscription);
        if (notifications === undefined) due.set(subscription, [notification]);
        else notifications.push(notification);
        work += notifyWork;
      });
      work += looked + 1;
      if (work < workPerTurn) continue;
      list.send(due);
      due = new Map();
      work = 0;
      await nextTurn();
      if (isOver()) return;
    }
    list.send(due);
  }

  async function notifyPending(hashes: readonly string[]): Promise<void> {
    const notifications = hashes.map((hash) => createNotification(`"${hash}"`));
    list.notify((request) =>
      request.kind === "newPendingTransactions" && !request.whole ? notifications : [],
    );
    if (!list.some(({ request }) => request.kind === "newPendingTransactions" && request.whole)) return;
    // Besu's own subscription does not offer them: they are fetched by hash, once for everybody.
    const answers = await Promise.all(hashes.map((hash) => askChain("eth_getTransactionByHash", [hash])));
    const whole = answers
      .filter((answer) => answer !== undefined && answer.result !== null)
      .map((answer) => createNotification(JSON.stringify(answer?.result)));
    list.notify((request) => (request.kind === "newPendingTransactions" && request.whole ? whole : []));
  }

  function followPending(): void {
    if (list.count("newPendingTransactions") > 0) stopFollowing ??= pending.follow(notifyPending);
    else {
      stopFollowing?.();
      stopFollowing = undefined;
    }
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
      if (!list.hasRoom(subscriber)) return tooManySubscriptions(subscriptionsPerConnectionMax);
      const refused = request.kind === "logs" ? budget.take(keyId, valuesOf(request)) : undefined;
      if (refused !== undefined) return refused;
      const subscription: Subscription = { id: newId(), keyId, subscriber, request, after: undefined };
      list.add(subscription);
      followPending();
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
      followPending();
      return true;
    },
    leave(subscriber) {
      list.removeAll(subscriber);
      followPending();
    },
    count: list.count,
    logValues: budget.values,
    notificationsSent: list.notificationsSent,
    stop() {
      for (const stop of stopListening) stop();
      blockLogs.clear();
      stopFollowing?.();
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
