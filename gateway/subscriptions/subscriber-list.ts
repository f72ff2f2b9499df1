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
  end(reason: EndReason): void;
};

/** `after`: it gets notifications of later blocks only; undefined until its subscriber has its id. */
export type Subscription = {
  id: string;
  keyId: string;
  subscriber: Subscriber;
  request: SubscriptionRequest;
  after: bigint | undefined;
};

export type SubscriberList = ReturnType<typeof createSubscriberList>;

/** All subscriptions by their subscribers, at most `perSubscriberMax()` each. */
export function createSubscriberList({
  perSubscriberMax,
  onRemoved,
}: {
  perSubscriberMax: () => number;
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

    hasRoom: (subscriber: Subscriber): boolean =>
      (subscribers.get(subscriber)?.size ?? 0) < perSubscriberMax(),

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

    /** Sends each started subscription what `notificationsFor` gives for it. Those of one subscriber go out together. */
    notify(notificationsFor: (request: SubscriptionRequest, after: bigint) => readonly Notification[]): void {
      for (const [subscriber, subscriptions] of subscribers) {
        const due: { id: string; notifications: readonly Notification[] }[] = [];
        for (const { id, request, after } of subscriptions.values()) {
          const notifications = after === undefined ? [] : notificationsFor(request, after);
          if (notifications.length > 0) due.push({ id, notifications });
        }
        if (due.length === 0) continue;
        subscriber.cork(() => {
          for (const { id, notifications } of due)
            for (const one of notifications) subscriber.send(one.messageFor(id));
        });
        for (const { notifications } of due) notificationsSent += notifications.length;
      }
    },

    /** Sends each subscription its notifications. Those of one subscriber go out together; one that has left gets none. */
    send(due: ReadonlyMap<Subscription, readonly Notification[]>): void {
      const bySubscriber = new Map<Subscriber, [Subscription, readonly Notification[]][]>();
      for (const [subscription, notifications] of due) {
        const { subscriber, id } = subscription;
        if (subscribers.get(subscriber)?.get(id) !== subscription) continue;
        const ofSubscriber = bySubscriber.get(subscriber);
        if (ofSubscriber === undefined) bySubscriber.set(subscriber, [[subscription, notifications]]);
        else ofSubscriber.push([subscription, notifications]);
      }
      for (const [subscriber, ofSubscriber] of bySubscriber) {
        subscriber.cork(() => {
          for (const [{ id }, notifications] of ofSubscriber)
            for (const one of notifications) subscriber.send(one.messageFor(id));
        });
        for (const [, notifications] of ofSubscriber) notificationsSent += notifications.length;
      }
    },

    some(test: (subscription: Subscription) => boolean): boolean {
      return [...subscribers.values()].some((subscriptions) => [...subscriptions.values()].some(test));
    },

    /** Ends every subscriber with a subscription that passes the test. */
    end(reason: EndReason, concerns: (subscription: Subscription) => boolean): void {
      for (const [subscriber, subscriptions] of [...subscribers]) {
        if ([...subscriptions.values()].some(concerns)) subscriber.end(reason);
      }
    },
  };
}
