export type Drain = ReturnType<typeof createDrain>;

/** Counts requests in flight and open connections, so that the end can wait for them. */
export function createDrain({ lingerMs }: { lingerMs: number }) {
  let inFlight = 0;
  let openCount = 0;
  let lingersUntilMs = 0;
  let isStopping = false;
  let onChange = () => {};

  // What the library still holds of an answer that was streamed is out when its connection has closed.
  const isDone = () => inFlight === 0 && (openCount === 0 || performance.now() > lingersUntilMs);

  return {
    requestBegan(): void {
      inFlight += 1;
    },
    requestEnded(): void {
      inFlight -= 1;
      onChange();
    },
    /** 1 for a connection that opens, -1 for one that closes. */
    countConnection(opened: number): void {
      openCount += opened;
      onChange();
    },
    /** A streamed answer is with the library, which may still hold its last bytes. */
    linger(): void {
      lingersUntilMs = performance.now() + lingerMs;
    },
    begin(): void {
      isStopping = true;
    },
    /**
     * Resolves when no connection is open any more, or after `waitMs`: a connection that is closed while it is idle may be one
     * on which a request is on its way, which its client could not send again.
     */
    untilEmpty: (waitMs: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        onChange = () => {
          if (openCount > 0) return;
          clearTimeout(timer);
          resolve();
        };
        onChange();
      }),
    isStopping: () => isStopping,
    isDone,
    /** Resolves when nothing is in flight any more, or after `waitMs`. */
    untilDone: (waitMs: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        onChange = () => {
          if (!isDone()) return;
          clearTimeout(timer);
          resolve();
        };
        onChange();
      }),
  };
}
