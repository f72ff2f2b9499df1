/** Records without arguments, each made once while they are true. */
export type HeadMemo = {
  get(name: string, make: () => Promise<unknown>): Promise<unknown>;
  /** The head has moved, or the index. */
  forget(): void;
};

/** So long a record stands without a new block: that the chain is stalled, or a database back, shows by the clock. */
const keepMs = 1000;

/**
 * What everybody asks and has no arguments (the chain, validators, burns), made once a head for all requests, as REST's answers
 * are. One that fails is made anew for the next who asks.
 */
export function createHeadMemo({
  monotonicMs = () => performance.now(),
}: {
  monotonicMs?: () => number;
} = {}): HeadMemo {
  const made = new Map<string, { record: Promise<unknown>; untilMs: number }>();

  return {
    get(name, make) {
      const known = made.get(name);
      if (known !== undefined && monotonicMs() < known.untilMs) return known.record;
      const record = make();
      const entry = { record, untilMs: monotonicMs() + keepMs };
      made.set(name, entry);
      record.catch(() => {
        if (made.get(name) === entry) made.delete(name);
      });
      return record;
    },
    forget: () => made.clear(),
  };
}
