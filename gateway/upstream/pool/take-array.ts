import type { UpstreamCall } from "./upstream-call.ts";

/**
 * Takes the calls of one request from the front of `waiting`: at most `callsMax` calls and `paramsBytesMax` bytes of
 * parameters, but at least one call. A call that must be alone is alone. Calls that may have spoiled an array share none with
 * calls that did not. Settled calls are dropped. `rest` may be `waiting` itself.
 */
export function takeArray(
  waiting: UpstreamCall[],
  { callsMax, paramsBytesMax }: { callsMax: number; paramsBytesMax: number },
): { taken: UpstreamCall[]; rest: UpstreamCall[] } {
  let count = 0;
  let bytes = 0;
  let settled = 0;
  let arrayMax = callsMax;
  for (; count < waiting.length && count - settled < Math.min(callsMax, arrayMax); count += 1) {
    const call = waiting[count];
    if (call === undefined) break;
    if (call.settled) {
      settled += 1;
      continue;
    }
    bytes += call.paramsText.length;
    const isFirst = count === settled;
    if (isFirst) arrayMax = call.arrayMax;
    else if (call.alone || call.arrayMax !== arrayMax || bytes > paramsBytesMax) break;
    if (call.alone) {
      count += 1;
      break;
    }
  }
  // Usually all go: then hand over `waiting` itself, and begin a new array.
  const front = count === waiting.length ? waiting : waiting.splice(0, count);
  return {
    taken: settled === 0 ? front : front.filter((call) => !call.settled),
    rest: front === waiting ? [] : waiting,
  };
}

/**
 * The call at `index` and later ones that may share its request to the validator with this `bit`: they need not be alone,
 * and the validator has not had them. It takes them out of `waiting`. Without `isMixed` they are of one key.
 */
export function takeCompanions(
  waiting: (UpstreamCall | undefined)[],
  index: number,
  {
    callsMax,
    paramsBytesMax,
    isMixed,
    bit,
  }: { callsMax: number; paramsBytesMax: number; isMixed: boolean; bit: number },
): UpstreamCall[] {
  const first = waiting[index];
  if (first === undefined) return [];
  const taken = [first];
  let bytes = first.paramsText.length;
  const longest = first.alone ? 1 : Math.min(callsMax, first.arrayMax);
  for (let at = index + 1; at < waiting.length && taken.length < longest; at += 1) {
    const call = waiting[at];
    if (call === undefined || call.settled || call.alone || call.arrayMax !== first.arrayMax) continue;
    if (((call.tried & bit) !== 0 && !call.mayRepeat) || (!isMixed && call.group !== first.group)) continue;
    bytes += call.paramsText.length;
    if (bytes > paramsBytesMax) break;
    taken.push(call);
    waiting[at] = undefined;
  }
  return taken;
}

/** One call of each key, then the second of each, and so on: the many of one key do not go before the few of another. */
export function byTurns(calls: readonly UpstreamCall[]): UpstreamCall[] {
  const groups = [...Map.groupBy(calls, ({ group }) => group).values()];
  if (groups.length === 1) return groups[0] ?? [];
  const longest = Math.max(...groups.map(({ length }) => length));
  const ordered: UpstreamCall[] = [];
  for (let place = 0; place < longest; place += 1) {
    for (const group of groups) {
      const call = group[place];
      if (call !== undefined) ordered.push(call);
    }
  }
  return ordered;
}
