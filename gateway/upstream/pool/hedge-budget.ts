export type HedgeBudget = ReturnType<typeof createHedgeBudget>;

/** How many calls may be asked twice: a share of all calls, and at first `burst`. */
export function createHedgeBudget({ shareMax, burst }: { shareMax: number; burst: number }) {
  let left = burst;
  return {
    /** To be told of each call. */
    earn(): void {
      if (left < burst) left += shareMax;
    },
    /** Whether one more may be asked twice. */
    take(): boolean {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
