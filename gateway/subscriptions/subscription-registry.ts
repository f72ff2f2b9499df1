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
  /** Makes a subscription. It is told nothing before `start`: its maker must have its id first. */
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

/** Told in README and in the reason of the ending. */
const blocksBehindMax = 128;

/**
 * What is done for logs in one turn of the event loop, so that a block with many, or many who listen, holds nobody up:
 * looking at a subscription counts as one, telling it as `tellingWork`. About 2 ms.
 */
const workPerTurn = 2000;
const tellingWork = 20;

/**
 * Who is told what of each new block, driven by the announced heads: a subscriber sees each block and each log that it
 * wants exactly once and in order, whichever validators fail. Where that cannot be kept (too many blocks were left out,
 * another chain began) its socket is closed with a reason, so that it knows.
 *
 * A block costs one question for its logs at most, and one text for each thing that is told, however many listen.
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
    deliver: tellLogs,
    onBehind: () => endBehind(["logs"]),
  });
  const stopListening = [upstream.onHead(tellHead), upstream.onEpoch(endAll)];

  function tellHead(head: NewHead): void {
    lastNumber = head.number;
    if (head.skipped > 0n) {
      blockLogs.clear();
      endBehind(["newHeads", "logs"]);
    }
    if (list.count("newHeads") > 0) {
      const news = [createNotification(JSON.stringify(head.block))];
      list.tell((request) => (request.kind === "newHeads" ? news : []));
    }
    if (list.count("logs") === 0) return;
    if (index.mayMatch(readBloom(head.block["logsBloom"]))) blockLogs.add(head);
  }

  async function tellLogs({ number }: NewHead, logs: readonly Log[], isOver: () => boolean): Promise<void> {
    let news = new Map<Subscription, Notification[]>();
    let work = 0;
    for (const log of logs) {
      let notification: Notification | undefined;
      const looked = index.find(log, (subscription) => {
        if (subscription.after === undefined || subscription.after >= number) return;
        notification ??= createNotification(JSON.stringify(log.written));
        const told = news.get(subscription);
        if (told === undefined) news.set(subscription, [notification]);
        else told.push(notification);
        work += tellingWork;
      });
      work += looked + 1;
      if (work < workPerTurn) continue;
      list.send(news);
      news = new Map();
      work = 0;
      await nextTurn();
      if (isOver()) return;
    }
    list.send(news);
  }

  async function tellPending(hashes: readonly string[]): Promise<void> {
    const news = hashes.map((hash) => createNotification(`"${hash}"`));
    list.tell((request) => (request.kind === "newPendingTransactions" && !request.whole ? news : []));
    if (!list.some(({ request }) => request.kind === "newPendingTransactions" && request.whole)) return;
    // Besu's own subscription does not offer them: they are fetched by hash, once for everybody.
    const answers = await Promise.all(hashes.map((hash) => askChain("eth_getTransactionByHash", [hash])));
    const whole = answers
      .filter((answer) => answer !== undefined && answer.result !== null)
      .map((answer) => createNotification(JSON.stringify(answer?.result)));
    list.tell((request) => (request.kind === "newPendingTransactions" && request.whole ? whole : []));
  }

  function followPending(): void {
    if (list.count("newPendingTransactions") > 0) stopFollowing ??= pending.follow(tellPending);
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

/** One that names nothing is told of every log. */
function valuesOf({ criteria }: SubscriptionRequest & { kind: "logs" }): number {
  return Math.max(1, countValues(criteria));
}

/** Drawn, so that nobody can name another's. */
function newId(): string {
  return `0x${randomBytes((subscriptionIdChars - 2) / 2).toString("hex")}`;
}

function tooManySubscriptions(most: number): Refusal {
  return refusal(
    "rate_limited",
    `A connection may have at most ${most} subscriptions; end one with eth_unsubscribe`,
  );
}
