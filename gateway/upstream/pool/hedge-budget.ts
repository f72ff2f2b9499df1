export type HedgeBudget = ReturnType<typeof createHedgeBudget>;

/** How many calls may be hedged: a share of all calls, and `burst` at first. */
export function createHedgeBudget({ shareMax, burst }: { shareMax: number; burst: number }) {
  let left = burst;
  return {
    /** Called for each call. */
    earn(): void {
      if (left < burst) left += shareMax;
    },
    /** Whether one more call may be hedged. */
    take(): boolean {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
