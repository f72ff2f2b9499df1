import type { Ending } from "../../websocket/endings.ts";
import type { Notification } from "./notification.ts";
import type { Wish } from "./read-wish.ts";

/** Whoever is told: one socket. */
export type Subscriber = {
  /** Everything that `write` sends goes out together. */
  cork(write: () => void): void;
  /** Copies the message before it returns. The subscriber may be gone from the list then. */
  send(message: Uint8Array): void;
  end(ending: Ending): void;
};

/** `after`: it is told of later blocks than this one; undefined until its maker knows of it. */
export type Subscription = { id: string; subscriber: Subscriber; wish: Wish; after: bigint | undefined };

/** All subscriptions by their subscribers, at most `perSubscriberMax` each. */
export function createSubscriberList({ perSubscriberMax }: { perSubscriberMax: number }) {
  const subscribers = new Map<Subscriber, Map<string, Subscription>>();
  const counts = { newHeads: 0, logs: 0, newPendingTransactions: 0, syncing: 0 };
  let notificationsSent = 0;

  function remove({ subscriber, id, wish }: Subscription): void {
    const subscriptions = subscribers.get(subscriber);
    if (subscriptions?.delete(id) !== true) return;
    if (subscriptions.size === 0) subscribers.delete(subscriber);
    counts[wish.kind] -= 1;
  }

  return {
    count: (kind: Wish["kind"]): number => counts[kind],
    notificationsSent: () => notificationsSent,

    /** False where its subscriber has as many as it may. */
    add(subscription: Subscription): boolean {
      const { subscriber, id, wish } = subscription;
      const subscriptions = subscribers.get(subscriber) ?? new Map<string, Subscription>();
      if (subscriptions.size >= perSubscriberMax) return false;
      subscriptions.set(id, subscription);
      subscribers.set(subscriber, subscriptions);
      counts[wish.kind] += 1;
      return true;
    },

    find: (subscriber: Subscriber, id: string): Subscription | undefined =>
      subscribers.get(subscriber)?.get(id),
    remove,
    removeAll(subscriber: Subscriber): void {
      for (const subscription of [...(subscribers.get(subscriber)?.values() ?? [])]) remove(subscription);
    },

    /** Sends each started subscription what `newsFor` gives for it; what one subscriber is told goes out together. */
    tell(newsFor: (wish: Wish, after: bigint) => readonly Notification[]): void {
      for (const [subscriber, subscriptions] of subscribers) {
        const told: { id: string; news: readonly Notification[] }[] = [];
        for (const { id, wish, after } of subscriptions.values()) {
          const news = after === undefined ? [] : newsFor(wish, after);
          if (news.length > 0) told.push({ id, news });
        }
        if (told.length === 0) continue;
        subscriber.cork(() => {
          for (const { id, news } of told) for (const one of news) subscriber.send(one.messageFor(id));
        });
        for (const { news } of told) notificationsSent += news.length;
      }
    },

    some(test: (subscription: Subscription) => boolean): boolean {
      return [...subscribers.values()].some((subscriptions) => [...subscriptions.values()].some(test));
    },

    /** Ends every subscriber with a subscription that the test concerns. */
    end(ending: Ending, concerns: (subscription: Subscription) => boolean): void {
      for (const [subscriber, subscriptions] of [...subscribers]) {
        if ([...subscriptions.values()].some(concerns)) subscriber.end(ending);
      }
    },
  };
}
