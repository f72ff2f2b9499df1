import { hasLongAnswers } from "./group-counts.ts";
import { createKeyRing } from "./key-ring.ts";
import { takeArray } from "./take-array.ts";
import type { UpstreamCall } from "./upstream-call.ts";

export type FairQueue = ReturnType<typeof createFairQueue>;

/** How the calls of a lane take turns. */
export type Turns = {
  /** What a key may send in its turn, in units of `costOf`. */
  readonly perTurn: number;
  costOf(call: UpstreamCall): number;
  /** Whether calls of several keys may share an array. Slow calls of one key would hold up another key's in it. */
  readonly isMixed: boolean;
  /** How many calls like this one may share an array. */
  callsMaxOf(call: UpstreamCall): number;
};

const lightPerTurn = 16;

/** Light calls cost what the method table says, and share arrays. A call with a long answer takes a whole turn. */
export const lightTurns: Turns = {
  perTurn: lightPerTurn,
  costOf: ({ plan, counted }) => (hasLongAnswers(counted, plan.rule.name) ? lightPerTurn : plan.rule.cost),
  isMixed: true,
  callsMaxOf: () => Number.POSITIVE_INFINITY,
};

/** Bounds of one request. `isMixed` false: it holds calls of one key, also where keys may share one. */
export type TakeLimits = { callsMax: number; paramsBytesMax: number; isMixed?: boolean };

/**
 * Calls that wait, served by turns of their keys: deficit round robin (Shreedhar and Varghese 1995), a few steps a call
 * however many keys there are. Keys are told apart only where more waits than fits into one request. Calls that come and
 * go in one turn of the event loop leave as they came.
 */
export function createFairQueue({ perTurn, costOf, isMixed: mayMix, callsMaxOf }: Turns) {
  let fresh: UpstreamCall[] = [];
  const ring = createKeyRing();

  function spread(): void {
    if (fresh.length === 0) return;
    const calls = fresh;
    fresh = [];
    ring.add(calls);
  }

  function takeByTurns(limits: TakeLimits, isMixed: boolean): UpstreamCall[] {
    const taken: UpstreamCall[] = [];
    let { callsMax } = limits;
    let bytes = 0;
    for (let queue = ring.first(); queue !== undefined; queue = ring.first()) {
      if (!queue.isItsTurn) {
        queue.isItsTurn = true;
        queue.left += perTurn;
      }
      for (let call = ring.front(queue); call !== undefined; call = ring.front(queue)) {
        const cost = Math.min(costOf(call), perTurn);
        if (cost > queue.left) break;
        bytes += call.paramsText.length;
        if (taken.length > 0 && !mayJoin(call, taken, bytes, limits.paramsBytesMax)) return taken;
        if (taken.length === 0) callsMax = Math.min(callsMax, callsMaxOf(call), call.arrayMax);
        taken.push(call);
        queue.left -= cost;
        ring.pass(queue);
        if (call.alone || taken.length >= callsMax) {
          if (ring.front(queue) === undefined) ring.endTurn(queue);
          return taken;
        }
      }
      ring.endTurn(queue);
      if (taken.length > 0 && !isMixed) return taken;
    }
    return taken;
  }

  /** Whether the new calls make one request: few enough, and of one key where keys do not share arrays. */
  function isOneRequest(callsMax: number, isMixed: boolean): boolean {
    if (fresh.length > callsMax) return false;
    const [call] = fresh;
    if (call === undefined) return true;
    // Calls with long answers wait for their key's turn even where few calls wait.
    if (isMixed) return fresh.length === 1 || call.counted?.longAnswers === undefined;
    return fresh.length <= callsMaxOf(call) && fresh.every(({ group }) => group === call.group);
  }

  return {
    push(call: UpstreamCall): void {
      fresh.push(call);
    },
    /** How many calls wait. */
    count: () => fresh.length + ring.count(),
    /** Takes out the calls of the next request; at least one where one waits. */
    take(limits: TakeLimits): UpstreamCall[] {
      const isMixed = mayMix && limits.isMixed !== false;
      if (ring.count() === 0 && isOneRequest(limits.callsMax, isMixed)) {
        const { taken, rest } = takeArray(fresh, limits);
        fresh = rest;
        return taken;
      }
      spread();
      return takeByTurns(limits, isMixed);
    },
    /** Takes out everything. */
    drain(): UpstreamCall[] {
      spread();
      return ring.drain();
    },
    forEach(visit: (call: UpstreamCall) => void): void {
      for (const call of fresh) visit(call);
      ring.forEach(visit);
    },
    /** Takes out the calls that were settled while they waited. */
    dropSettled(): void {
      if (fresh.some(({ settled }) => settled)) fresh = fresh.filter(({ settled }) => !settled);
      ring.dropSettled();
    },
    /**
     * Makes room for one more call of `group` in a full queue: takes out the latest call of the key with most waiting
     * calls. Undefined where that key is `group` itself.
     */
    makeRoom(group: string | undefined): UpstreamCall | undefined {
      spread();
      return ring.popLongest(group);
    },
  };
}

function mayJoin(
  call: UpstreamCall,
  taken: readonly UpstreamCall[],
  bytes: number,
  paramsBytesMax: number,
): boolean {
  const [first] = taken;
  return !call.alone && first?.alone !== true && call.arrayMax === first?.arrayMax && bytes <= paramsBytesMax;
}
