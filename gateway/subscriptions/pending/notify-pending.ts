import type { AskChain } from "../ask-chain.ts";
import { createNotification } from "../notification.ts";
import type { SubscriberList } from "../subscriber-list.ts";
import type { PendingTransactions } from "./pending-transactions.ts";

/** Notifies of pending transactions, while anybody subscribes to them: by hash, or whole for those that ask for it. */
export function createPendingNotifier({
  askChain,
  list,
  pending,
}: {
  askChain: AskChain;
  list: Pick<SubscriberList, "notify" | "some" | "count">;
  pending: Pick<PendingTransactions, "follow">;
}) {
  let stopFollowing: (() => void) | undefined;

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

  function stop(): void {
    stopFollowing?.();
    stopFollowing = undefined;
  }

  return {
    /** To be called when a subscription has come or gone. */
    follow(): void {
      if (list.count("newPendingTransactions") > 0) stopFollowing ??= pending.follow(notifyPending);
      else stop();
    },
    stop,
  };
}
