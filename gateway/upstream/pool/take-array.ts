import type { Ask } from "./ask.ts";

/**
 * Takes from the front of `waiting` what goes into one request: at most `callsMax` calls and `paramsBytesMax` bytes of
 * parameters, but at least one call; a call that has to be alone is alone. What was settled meanwhile is dropped.
 * The rest is a new array or the same one, shortened.
 */
export function takeArray(
  waiting: Ask[],
  { callsMax, paramsBytesMax }: { callsMax: number; paramsBytesMax: number },
): { taken: Ask[]; rest: Ask[] } {
  let count = 0;
  let bytes = 0;
  let settled = 0;
  for (; count < waiting.length && count - settled < callsMax; count += 1) {
    const ask = waiting[count];
    if (ask === undefined) break;
    if (ask.settled) {
      settled += 1;
      continue;
    }
    bytes += ask.paramsText.length;
    const isFirst = count === settled;
    if (!isFirst && (ask.alone || bytes > paramsBytesMax)) break;
    if (ask.alone) {
      count += 1;
      break;
    }
  }
  // Handing over the whole array is the usual case, and leaves nothing behind in one that lives long.
  const front = count === waiting.length ? waiting : waiting.splice(0, count);
  return {
    taken: settled === 0 ? front : front.filter((ask) => !ask.settled),
    rest: front === waiting ? [] : waiting,
  };
}

/**
 * The call at `index` and those behind it that may share its request to the validator with this `bit`: they are not
 * alone, and were not asked of it. They are taken out of `waiting`.
 */
export function takeCompanions(
  waiting: (Ask | undefined)[],
  index: number,
  { callsMax, paramsBytesMax, bit }: { callsMax: number; paramsBytesMax: number; bit: number },
): Ask[] {
  const first = waiting[index];
  if (first === undefined) return [];
  const taken = [first];
  let bytes = first.paramsText.length;
  for (let at = index + 1; at < waiting.length && taken.length < callsMax && !first.alone; at += 1) {
    const ask = waiting[at];
    if (ask === undefined || ask.settled || ask.alone || (ask.tried & bit) !== 0) continue;
    bytes += ask.paramsText.length;
    if (bytes > paramsBytesMax) break;
    taken.push(ask);
    waiting[at] = undefined;
  }
  return taken;
}
