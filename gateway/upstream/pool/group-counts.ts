export type GroupCounts = ReturnType<typeof createGroupCounts>;

/** How many calls of one key are under way in a lane, and how long one of them takes a validator. */
export type GroupCount = {
  underWay: number;
  /** A moving mean of milliseconds; 0 where nothing is known. */
  callMs: number;
  /**
   * Methods that had a long answer lately, each with how many short ones it takes to forget that. Undefined where there are
   * none, which is nearly always.
   */
  longAnswers: Map<string, number> | undefined;
  /** Sweeps that found nothing under way. */
  idleSweeps: number;
};

/** So many sweeps a key is remembered: one that pauses must not pass for one that is not known. */
const idleSweepsMax = 200;
/** Weight of the newest measurement: what turns slow is believed sooner than what turns quick. */
const slowerShare = 0.5;
const quickerShare = 0.2;

/**
 * Counts the calls of each key. A call holds its key's count, so that its end is a subtraction and costs no look-up; counts
 * that came to nothing are forgotten by the sweep after a while.
 */
export function createGroupCounts({ groupMax }: { groupMax: number }) {
  // Numbers only: no call hangs on it.
  const counts = new Map<string, GroupCount>();
  return {
    /** Lets one more begin, until its `underWay` is lowered; undefined where too many are under way. */
    enter(group: string): GroupCount | undefined {
      let count = counts.get(group);
      if (count === undefined) {
        count = { underWay: 0, callMs: 0, longAnswers: undefined, idleSweeps: 0 };
        counts.set(group, count);
      }
      if (count.underWay >= groupMax) return undefined;
      count.underWay += 1;
      count.idleSweeps = 0;
      return count;
    },
    /** Nothing holds a count of nothing. */
    forgetIdle(): void {
      for (const [group, count] of counts) {
        if (count.underWay > 0) continue;
        count.idleSweeps += 1;
        if (count.idleSweeps > idleSweepsMax) counts.delete(group);
      }
    },
  };
}

/** To be told how long a request took, and for how many calls of one key. */
export function noteCallMs(count: GroupCount, ms: number): void {
  const share = ms > count.callMs ? slowerShare : quickerShare;
  count.callMs = count.callMs === 0 ? ms : count.callMs + (ms - count.callMs) * share;
}

/** From here on an answer is long: in an array its neighbours would wait for it. */
export const longAnswerChars = 128 * 1024;
const shortAnswersToForget = 16;

/** To be told how long each answer to one key is. */
export function noteAnswerLength(count: GroupCount, method: string, chars: number): void {
  if (chars >= longAnswerChars) {
    count.longAnswers ??= new Map();
    count.longAnswers.set(method, shortAnswersToForget);
    return;
  }
  const left = count.longAnswers?.get(method);
  if (left === undefined) return;
  if (left > 1) count.longAnswers?.set(method, left - 1);
  else count.longAnswers?.delete(method);
  if (count.longAnswers?.size === 0) count.longAnswers = undefined;
}

/** Whether this key's answers to the method are long, as far as is known. */
export function hasLongAnswers(count: GroupCount | undefined, method: string): boolean {
  return count?.longAnswers?.has(method) === true;
}
