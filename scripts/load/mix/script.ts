/** What begins at an arrival: one item of the mix. */
export type Script = {
  name: string;
  /** Calls of its first request. */
  calls: number;
  /** Resolves when it has ended, however; it never rejects. */
  run(intendedMs: number): Promise<void>;
};
