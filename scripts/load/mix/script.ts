/** One item of the mix. It begins at an arrival. */
export type Script = {
  name: string;
  tag?: string | undefined;
  /** Calls of its first request. */
  calls: number;
  /** Resolves when it has ended, in any way. Never rejects. */
  run(intendedMs: number): Promise<void>;
};
