export type Turns = ReturnType<typeof createTurns>;

/**
 * Does work in slices: at most about `sliceMs` in one turn of the event loop, so that everything else goes on in between.
 * Groups take turns, so a long queue of one group delays each piece of another's work by one piece.
 *
 * In a quiet process the work is done at once, before `take` returns.
 */
export function createTurns({
  sliceMs,
  waitingPerGroupMax,
  now,
}: {
  sliceMs: number;
  waitingPerGroupMax: number;
  now: () => number;
}) {
  const groups = new Map<string, (() => void)[]>();
  let spentMs = 0;
  let isScheduled = false;

  function carryOut(work: () => void): void {
    const startedMs = now();
    work();
    spentMs += now() - startedMs;
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isScheduled = false;
    spentMs = 0;
    for (const [group, waiting] of groups) {
      if (spentMs >= sliceMs) break;
      const work = waiting.shift();
      // A Map keeps the order of its keys: a group that had its turn goes to the end.
      groups.delete(group);
      if (waiting.length > 0) groups.set(group, waiting);
      if (work !== undefined) carryOut(work);
    }
  }

  return {
    /** Does the work now or in a later turn, each group's in order. False where too much of this group waits. */
    take(group: string, work: () => void): boolean {
      if (groups.size === 0 && spentMs < sliceMs) {
        carryOut(work);
        return true;
      }
      const waiting = groups.get(group) ?? [];
      if (waiting.length >= waitingPerGroupMax) return false;
      waiting.push(work);
      groups.set(group, waiting);
      return true;
    },
  };
}
