import { randomBytes } from "node:crypto";
import { isRefusal, type Refusal, refusal } from "../../refusal.ts";
import type { HeadNews } from "../../upstream/head/head-tracker.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AskChain } from "../ask-chain.ts";
import { readBloom } from "../logs/log-bloom.ts";
import { matchesLog } from "../logs/log-criteria.ts";
import type { Log } from "../logs/read-logs.ts";
import type { PendingTransactions } from "../pending/pending-transactions.ts";
import { createBlockLogs } from "./block-logs.ts";
import { createNotification, subscriptionIdChars } from "./notification.ts";
import { readWish, type Wish } from "./read-wish.ts";
import { createSubscriberList, type Subscriber, type Subscription } from "./subscriber-list.ts";

export type SubscriptionHub = {
  /** Makes a subscription. It is told nothing before `start`: its maker must have its id first. */
  subscribe(subscriber: Subscriber, params: readonly unknown[]): Subscription | Refusal;
  start(subscription: Subscription): void;
  /** False where this subscriber has no such subscription. */
  unsubscribe(subscriber: Subscriber, id: unknown): boolean;
  /** The subscriber is gone, with all its subscriptions. */
  leave(subscriber: Subscriber): void;
  count(kind: Wish["kind"]): number;
  notificationsSent(): number;
  stop(): void;
};

/** Told in README and in the reason of the ending. */
const blocksBehindMax = 128;

/**
 * Who is told what of each new block, driven by the announced heads: a subscriber sees each block and each log that it
 * wants exactly once and in order, whichever validators fail. Where that cannot be kept (too many blocks were left out,
 * another chain began) its socket is closed with a reason, so that it knows.
 *
 * A block costs one question for its logs at most, and one text for each thing that is told, however many listen.
 */
export function createHub({
  upstream,
  askChain,
  pending,
  subscriptionsPerConnectionMax,
}: {
  upstream: Pick<Upstream, "onHead" | "onEpoch">;
  askChain: AskChain;
  pending: Pick<PendingTransactions, "follow">;
  subscriptionsPerConnectionMax: number;
}): SubscriptionHub {
  const list = createSubscriberList({ perSubscriberMax: subscriptionsPerConnectionMax });
  let lastNumber = -1n;
  let stopFollowing: (() => void) | undefined;

  const blockLogs = createBlockLogs({
    askChain,
    blocksBehindMax,
    deliver: tellLogs,
    onBehind: () => endBehind(["logs"]),
  });
  const stopListening = [upstream.onHead(tellHead), upstream.onEpoch(endAll)];

  function tellHead(head: HeadNews): void {
    lastNumber = head.number;
    if (head.skipped > 0n) {
      blockLogs.clear();
      endBehind(["newHeads", "logs"]);
    }
    if (list.count("newHeads") > 0) {
      const news = [createNotification(JSON.stringify(head.block))];
      list.tell((wish) => (wish.kind === "newHeads" ? news : []));
    }
    if (list.count("logs") === 0) return;
    const bloom = readBloom(head.block["logsBloom"]);
    const isWanted = ({ wish, after }: Subscription) =>
      wish.kind === "logs" && after !== undefined && wish.mayMatch(bloom);
    if (list.some(isWanted)) blockLogs.add(head);
  }

  function tellLogs({ number }: HeadNews, logs: readonly Log[]): void {
    const news = logs.map((log) => ({ log, notification: createNotification(log.text) }));
    list.tell((wish, after) => {
      if (wish.kind !== "logs" || after >= number) return [];
      return news.filter(({ log }) => matchesLog(wish.criteria, log)).map(({ notification }) => notification);
    });
  }

  async function tellPending(hashes: readonly string[]): Promise<void> {
    const news = hashes.map((hash) => createNotification(`"${hash}"`));
    list.tell((wish) => (wish.kind === "newPendingTransactions" && !wish.whole ? news : []));
    if (!list.some(({ wish }) => wish.kind === "newPendingTransactions" && wish.whole)) return;
    // Besu's own subscription does not offer them: they are fetched by hash, once for everybody.
    const answers = await Promise.all(hashes.map((hash) => askChain("eth_getTransactionByHash", [hash])));
    const whole = answers
      .filter((answer) => answer !== undefined && answer.result !== null)
      .map((answer) => createNotification(JSON.stringify(answer?.result)));
    list.tell((wish) => (wish.kind === "newPendingTransactions" && wish.whole ? whole : []));
  }

  function followPending(): void {
    if (list.count("newPendingTransactions") > 0) stopFollowing ??= pending.follow(tellPending);
    else {
      stopFollowing?.();
      stopFollowing = undefined;
    }
  }

  function endBehind(kinds: readonly Wish["kind"][]): void {
    list.end("behind", ({ wish }) => kinds.includes(wish.kind));
  }

  function endAll(): void {
    lastNumber = -1n;
    blockLogs.clear();
    list.end("chainEnded", () => true);
  }

  return {
    subscribe(subscriber, params) {
      const wish = readWish(params);
      if (isRefusal(wish)) return wish;
      const subscription: Subscription = { id: newId(), subscriber, wish, after: undefined };
      if (!list.add(subscription)) return tooManySubscriptions(subscriptionsPerConnectionMax);
      followPending();
      return subscription;
    },
    start(subscription) {
      subscription.after = lastNumber;
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
    notificationsSent: list.notificationsSent,
    stop() {
      for (const stop of stopListening) stop();
      blockLogs.clear();
      stopFollowing?.();
    },
  };
}

/** Drawn, so that nobody can name another's. */
function newId(): string {
  return `0x${randomBytes((subscriptionIdChars - 2) / 2).toString("hex")}`;
}

function tooManySubscriptions(most: number): Refusal {
  return refusal("rate_limited", `A connection takes ${most} subscriptions; end one with eth_unsubscribe`);
}
