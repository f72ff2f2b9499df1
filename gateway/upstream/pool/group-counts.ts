export type GroupCounts = ReturnType<typeof createGroupCounts>;

/** How many calls of a key are under way in a lane, and how long one of them takes a validator. */
export type GroupCount = {
  underWay: number;
  /** A moving mean of milliseconds; 0 where none was measured. */
  callMs: number;
  /**
   * Methods with a long answer of late, each with how many short ones it takes to forget that. Undefined where there are
   * none, which is nearly always.
   */
  longAnswers: Map<string, number> | undefined;
  /** Sweeps in a row that found nothing under way. */
  idleSweeps: number;
};

/** A key is remembered for so many sweeps: after a pause it must not count as unknown. */
const idleSweepsMax = 200;
/** Weight of the newest measurement. A key that turns slow is believed sooner than one that turns quick. */
const slowerShare = 0.5;
const quickerShare = 0.2;

/**
 * Counts the calls of each key. A call holds its key's count, so its end is a subtraction and costs no look-up. The sweep
 * forgets idle counts after a while.
 */
export function createGroupCounts({ groupMax }: { groupMax: number }) {
  // It holds numbers only and keeps no call alive.
  const counts = new Map<string, GroupCount>();
  return {
    /** Counts one more call, until its `underWay` is lowered; undefined where too many are under way. */
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
    /** Called by each sweep. A count of 0 is held by no call. */
    forgetIdle(): void {
      for (const [group, count] of counts) {
        if (count.underWay > 0) continue;
        count.idleSweeps += 1;
        if (count.idleSweeps > idleSweepsMax) counts.delete(group);
      }
    },
  };
}

/** Notes how long a call of the key took. */
export function noteCallMs(count: GroupCount, ms: number): void {
  const share = ms > count.callMs ? slowerShare : quickerShare;
  count.callMs = count.callMs === 0 ? ms : count.callMs + (ms - count.callMs) * share;
}

/** An answer is long from here on: its neighbours in an array would wait for it. */
export const longAnswerChars = 128 * 1024;
const shortAnswersToForget = 16;

/** Notes the length of an answer to the key. */
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

/** Whether the key's answers to this method are long, as far as is known. */
export function hasLongAnswers(count: GroupCount | undefined, method: string): boolean {
  return count?.longAnswers?.has(method) === true;
}
