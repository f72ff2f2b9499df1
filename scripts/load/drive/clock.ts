/** Time for everything that drives or records, so that tests can bring their own. */
export type Clock = {
  /** Monotonic milliseconds with fractions. */
  now(): number;
  /** Calls back once, at this time of `now` or as soon after it as can be; a later call replaces an earlier one. */
  wakeAt(timeMs: number, callback: () => void): void;
  /** Calls back again and again, until the returned function is called. */
  every(intervalMs: number, callback: () => void): () => void;
  sleep(lengthMs: number): Promise<void>;
};
