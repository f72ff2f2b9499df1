import type { Notification } from "./notification.ts";
import type { SubscriptionRequest } from "./read-subscription-request.ts";

/** Why a subscriber is ended: it has missed too many blocks, or another chain has begun. */
export type EndReason = "behind" | "chainEnded";

/** One socket, which gets notifications. */
export type Subscriber = {
  /** Everything that `write` sends goes out together. */
  cork(write: () => void): void;
  /** Copies the message before it returns. The subscriber may be gone from the list then. */
  send(message: Uint8Array): void;
  end(ending: EndReason): void;
};

/** `after`: it is told of later blocks than this one; undefined until its maker knows of it. */
export type Subscription = {
  id: string;
  keyId: string;
  subscriber: Subscriber;
  request: SubscriptionRequest;
  after: bigint | undefined;
};

/** All subscriptions by their subscribers, at most `perSubscriberMax` each. */
export function createSubscriberList({
  perSubscriberMax,
  onRemoved,
}: {
  perSubscriberMax: number;
  onRemoved: (subscription: Subscription) => void;
}) {
  const subscribers = new Map<Subscriber, Map<string, Subscription>>();
  const counts = { newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 0 };
  let notificationsSent = 0;

  function remove(subscription: Subscription): void {
    const { subscriber, id, request } = subscription;
    const subscriptions = subscribers.get(subscriber);
    if (subscriptions?.delete(id) !== true) return;
    if (subscriptions.size === 0) subscribers.delete(subscriber);
    counts[request.kind] -= 1;
    onRemoved(subscription);
  }

  return {
    count: (kind: SubscriptionRequest["kind"]): number => counts[kind],
    notificationsSent: () => notificationsSent,

    hasRoom: (subscriber: Subscriber): boolean => (subscribers.get(subscriber)?.size ?? 0) < perSubscriberMax,

    add(subscription: Subscription): void {
      const { subscriber, id, request } = subscription;
      const subscriptions = subscribers.get(subscriber) ?? new Map<string, Subscription>();
      subscriptions.set(id, subscription);
      subscribers.set(subscriber, subscriptions);
      counts[request.kind] += 1;
    },

    find: (subscriber: Subscriber, id: string): Subscription | undefined =>
      subscribers.get(subscriber)?.get(id),
    remove,
    removeAll(subscriber: Subscriber): void {
      for (const subscription of [...(subscribers.get(subscriber)?.values() ?? [])]) remove(subscription);
    },

    /** Sends each started subscription what `newsFor` gives for it; what one subscriber is told goes out together. */
    tell(newsFor: (request: SubscriptionRequest, after: bigint) => readonly Notification[]): void {
      for (const [subscriber, subscriptions] of subscribers) {
        const told: { id: string; news: readonly Notification[] }[] = [];
        for (const { id, request, after } of subscriptions.values()) {
          const news = after === undefined ? [] : newsFor(request, after);
          if (news.length > 0) told.push({ id, news });
        }
        if (told.length === 0) continue;
        subscriber.cork(() => {
          for (const { id, news } of told) for (const one of news) subscriber.send(one.messageFor(id));
        });
        for (const { news } of told) notificationsSent += news.length;
      }
    },

    /** Sends subscriptions what is theirs; those of one subscriber go out together. Those that have left get nothing. */
    send(news: ReadonlyMap<Subscription, readonly Notification[]>): void {
      const bySubscriber = new Map<Subscriber, [Subscription, readonly Notification[]][]>();
      for (const [subscription, told] of news) {
        const { subscriber, id } = subscription;
        if (subscribers.get(subscriber)?.get(id) !== subscription) continue;
        const ofSubscriber = bySubscriber.get(subscriber);
        if (ofSubscriber === undefined) bySubscriber.set(subscriber, [[subscription, told]]);
        else ofSubscriber.push([subscription, told]);
      }
      for (const [subscriber, ofSubscriber] of bySubscriber) {
        subscriber.cork(() => {
          for (const [{ id }, told] of ofSubscriber)
            for (const one of told) subscriber.send(one.messageFor(id));
        });
        for (const [, told] of ofSubscriber) notificationsSent += told.length;
      }
    },

    some(test: (subscription: Subscription) => boolean): boolean {
      return [...subscribers.values()].some((subscriptions) => [...subscriptions.values()].some(test));
    },

    /** Ends every subscriber with a subscription that the test concerns. */
    end(ending: EndReason, concerns: (subscription: Subscription) => boolean): void {
      for (const [subscriber, subscriptions] of [...subscribers]) {
        if ([...subscriptions.values()].some(concerns)) subscriber.end(ending);
      }
    },
  };
}
