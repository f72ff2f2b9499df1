/** Besu's worker threads: HTTP requests and WebSocket messages share them, first come, first served. */
export function createWorkerSlots({ slots }: { slots: number }) {
  let free = slots;
  const waiting: (() => void)[] = [];

  async function run<Value>(work: () => Value | Promise<Value>): Promise<Value> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A slot is handed on, not given back and taken again: who waits longest is next.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }

  return { run };
}
