export type GroupCounts = ReturnType<typeof createGroupCounts>;

/** How many calls of one key are under way. */
export type GroupCount = { underWay: number };

/**
 * Counts the calls of each key. A call holds its key's count, so that its end is a subtraction and costs no look-up; counts
 * that came to nothing are forgotten by the sweep.
 */
export function createGroupCounts({ groupMax }: { groupMax: number }) {
  // Numbers only: no call hangs on it.
  const counts = new Map<string, GroupCount>();
  return {
    /** Lets one more begin, until its `underWay` is lowered; undefined where too many are under way. */
    enter(group: string): GroupCount | undefined {
      let count = counts.get(group);
      if (count === undefined) {
        count = { underWay: 0 };
        counts.set(group, count);
      }
      if (count.underWay >= groupMax) return undefined;
      count.underWay += 1;
      return count;
    },
    /** Nothing holds a count of nothing. */
    forgetIdle(): void {
      for (const [group, { underWay }] of counts) if (underWay === 0) counts.delete(group);
    },
  };
}
