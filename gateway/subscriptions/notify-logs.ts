import { setImmediate as nextTurn } from "node:timers/promises";
import type { LogIndex } from "../logs/log-index.ts";
import type { Log } from "../logs/read-logs.ts";
import type { NewHead } from "../upstream/head/publish-heads.ts";
import { createNotification, type Notification } from "./notification.ts";
import type { SubscriberList, Subscription } from "./subscriber-list.ts";

/**
 * How much work for logs one turn of the event loop does, so that a block with many logs or subscribers holds nothing up.
 * To look at a subscription counts as one, to notify it as `notifyWork`. About 2 ms.
 */
const workPerTurn = 2000;
const notifyWork = 20;

/** Makes the function that notifies of a block's logs: each subscriber of those that match, in order. */
export function createLogNotifier({
  index,
  list,
}: {
  index: Pick<LogIndex<Subscription>, "find">;
  list: Pick<SubscriberList, "send">;
}) {
  return async function notifyLogs(
    { number }: NewHead,
    logs: readonly Log[],
    isOver: () => boolean,
  ): Promise<void> {
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
  };
}
