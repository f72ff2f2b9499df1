import type { ChainBlock } from "./besu-blocks.ts";
import { type Answer, answered, besuErrors, refused } from "./besu-errors.ts";
import { hex } from "./json.ts";
import { type LogFilter, matchLogs, readLogFilter } from "./logs.ts";

type Subscription =
  | { kind: "newHeads" | "newPendingTransactions" | "syncing" }
  | { kind: "logs"; filter: LogFilter };

export type Subscriptions = ReturnType<typeof createSubscriptions>;
/** One WebSocket's subscriptions by their ids, and how a frame reaches it. */
export type Subscriber = { subscriptions: Map<string, Subscription>; send: (frame: string) => void };

const subscriptionsMax = 1_000;

/** `eth_subscribe` of one validator: what each open WebSocket asked for, and what it is told. */
export function createSubscriptions({ headText }: { headText: (block: ChainBlock) => string }) {
  const subscribers = new Set<Subscriber>();
  let issued = 0;

  function subscribe(subscriber: Subscriber, [kind, option]: unknown[]): Answer {
    const subscription = readSubscription(kind, option);
    if (subscription === undefined || subscriber.subscriptions.size >= subscriptionsMax) {
      return refused(besuErrors.invalidRequest);
    }
    // Besu numbers the subscriptions of all connections together.
    issued += 1;
    const id = hex(issued);
    subscriber.subscriptions.set(id, subscription);
    return answered(id);
  }

  function notify(wanted: (subscription: Subscription) => string[]): void {
    for (const { subscriptions, send } of subscribers) {
      for (const [id, subscription] of subscriptions) {
        for (const result of wanted(subscription)) send(notification(id, result));
      }
    }
  }

  return {
    open(send: (frame: string) => void): Subscriber {
      const subscriber = { subscriptions: new Map<string, Subscription>(), send };
      subscribers.add(subscriber);
      return subscriber;
    },
    close: (subscriber: Subscriber) => subscribers.delete(subscriber),
    subscribe,
    unsubscribe: (subscriber: Subscriber, [id]: unknown[]): Answer =>
      subscriber.subscriptions.delete(String(id)) ? answered(true) : refused(besuErrors.subscriptionNotFound),
    /** Logs leave before the head of their block: so they came from Besu. */
    onBlock(block: ChainBlock): void {
      notify((one) =>
        one.kind === "logs" ? matchLogs(block, one.filter).map((log) => JSON.stringify(log)) : [],
      );
      notify((one) => (one.kind === "newHeads" ? [headText(block)] : []));
    },
    onPending(hash: string): void {
      notify((one) => (one.kind === "newPendingTransactions" ? [JSON.stringify(hash)] : []));
    },
    /** How many subscriptions of a kind are open. */
    count(kind: Subscription["kind"]): number {
      const all = [...subscribers].flatMap(({ subscriptions }) => [...subscriptions.values()]);
      return all.filter((subscription) => subscription.kind === kind).length;
    },
  };
}

function readSubscription(kind: unknown, option: unknown): Subscription | undefined {
  switch (kind) {
    case "newHeads":
    case "syncing":
      return { kind };
    case "newPendingTransactions":
      // Besu 26.8.0 refuses to send whole transactions.
      return option === true ? undefined : { kind };
    case "logs":
      return { kind, filter: readLogFilter(option) };
    default:
      return undefined;
  }
}

function notification(id: string, result: string): string {
  return `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`;
}
