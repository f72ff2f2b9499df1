import { EventEmitter, once } from "node:events";
import type { PooledTransaction } from "./mempool.ts";
import type { StartedValidator } from "./validator.ts";

/** Carries a transaction from the pool that accepted it to the others, which may refuse it or be down. */
export function createGossip({ delayMs, validators }: { delayMs: number; validators: StartedValidator[] }) {
  const timers = new Set<NodeJS.Timeout>();
  const events = new EventEmitter();

  function arrive(transaction: PooledTransaction, origin: number): void {
    validators.forEach(({ internals }, index) => {
      if (index !== origin) internals.receive(transaction);
    });
    if (timers.size === 0) events.emit("settled");
  }

  return {
    from:
      (origin: number) =>
      (transaction: PooledTransaction): void => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          arrive(transaction, origin);
        }, delayMs);
        timers.add(timer);
      },
    /** Settles when no transaction is on its way. */
    async settled(): Promise<void> {
      if (timers.size > 0) await once(events, "settled");
    },
    stop(): void {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
