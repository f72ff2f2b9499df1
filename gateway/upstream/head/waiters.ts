type Waiter = { number: bigint; resolve: (reached: boolean) => void; timer: NodeJS.Timeout };

/** Lets callers wait until a number is announced, at most `waitersMax` at once: one more gets `false` at once. */
export function createWaiters({ waitersMax }: { waitersMax: number }) {
  const waiting = new Set<Waiter>();

  function settle(waiter: Waiter, reached: boolean): void {
    clearTimeout(waiter.timer);
    waiting.delete(waiter);
    waiter.resolve(reached);
  }

  return {
    wait(number: bigint, timeoutMs: number): Promise<boolean> {
      if (timeoutMs <= 0 || waiting.size >= waitersMax) return Promise.resolve(false);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(waiter, false), timeoutMs).unref();
        const waiter: Waiter = { number, resolve, timer };
        waiting.add(waiter);
      });
    },
    announced(number: bigint): void {
      for (const waiter of waiting) if (waiter.number <= number) settle(waiter, true);
    },
    /** Ends all waits: the numbers will not be announced. */
    dismiss(): void {
      for (const waiter of waiting) settle(waiter, false);
    },
  };
}
