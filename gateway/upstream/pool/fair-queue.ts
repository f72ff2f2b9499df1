import { hasLongAnswers } from "./group-counts.ts";
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

/** The waiting calls of a key; those before `at` are gone. `left` is what is left of its turn. */
type KeyQueue = {
  readonly group: string | undefined;
  calls: (UpstreamCall | undefined)[];
  at: number;
  left: number;
  isItsTurn: boolean;
  /** The next in turn. */
  next: KeyQueue | undefined;
};

/** Bounds of one request. `isMixed` false: it holds calls of one key, also where keys may share one. */
export type TakeLimits = { callsMax: number; paramsBytesMax: number; isMixed?: boolean };

/** So many places before `at` are kept, so that they are not cut off one by one. */
const gonePlacesMax = 512;

/**
 * Calls that wait, served by turns of their keys: deficit round robin (Shreedhar and Varghese 1995), a few steps a call
 * however many keys there are. Keys are told apart only where more waits than fits into one request. Calls that come and
 * go in one turn of the event loop leave as they came.
 */
export function createFairQueue({ perTurn, costOf, isMixed: mayMix, callsMaxOf }: Turns) {
  let fresh: UpstreamCall[] = [];
  const queues = new Map<string | undefined, KeyQueue>();
  /** Keys with waiting calls, in the order of their turns. */
  let first: KeyQueue | undefined;
  let last: KeyQueue | undefined;
  let backlog = 0;

  function spread(): void {
    const calls = fresh;
    if (calls.length === 0) return;
    fresh = [];
    backlog += calls.length;
    let queue: KeyQueue | undefined;
    for (const call of calls) {
      if (queue === undefined || queue.group !== call.group) queue = queueOf(call.group);
      queue.calls.push(call);
    }
  }

  function queueOf(group: string | undefined): KeyQueue {
    const known = queues.get(group);
    if (known !== undefined) return known;
    const queue: KeyQueue = { group, calls: [], at: 0, left: 0, isItsTurn: false, next: undefined };
    queues.set(group, queue);
    append(queue);
    return queue;
  }

  function append(queue: KeyQueue): void {
    queue.next = undefined;
    if (last === undefined) first = queue;
    else last.next = queue;
    last = queue;
  }

  /** Ends the turn of the first key: it comes last, or goes where none of its calls wait. */
  function endTurn(queue: KeyQueue): void {
    first = queue.next;
    if (first === undefined) last = undefined;
    queue.isItsTurn = false;
    if (queue.at < queue.calls.length) append(queue);
    else queues.delete(queue.group);
  }

  /** The next call of a key that still wants an answer. */
  function front(queue: KeyQueue): UpstreamCall | undefined {
    while (queue.at < queue.calls.length) {
      const call = queue.calls[queue.at];
      if (call !== undefined && !call.settled) return call;
      pass(queue);
    }
    return undefined;
  }

  function pass(queue: KeyQueue): void {
    // A gone call must not be kept alive by its queue.
    queue.calls[queue.at] = undefined;
    queue.at += 1;
    backlog -= 1;
    if (queue.at < gonePlacesMax || queue.at * 2 < queue.calls.length) return;
    queue.calls = queue.calls.slice(queue.at);
    queue.at = 0;
  }

  function takeByTurns(limits: TakeLimits, isMixed: boolean): UpstreamCall[] {
    const taken: UpstreamCall[] = [];
    let { callsMax } = limits;
    let bytes = 0;
    for (let queue = first; queue !== undefined; queue = first) {
      if (!queue.isItsTurn) {
        queue.isItsTurn = true;
        queue.left += perTurn;
      }
      for (let call = front(queue); call !== undefined; call = front(queue)) {
        const cost = Math.min(costOf(call), perTurn);
        if (cost > queue.left) break;
        bytes += call.paramsText.length;
        if (taken.length > 0 && !mayJoin(call, taken, bytes, limits.paramsBytesMax)) return taken;
        if (taken.length === 0) callsMax = Math.min(callsMax, callsMaxOf(call), call.arrayMax);
        taken.push(call);
        queue.left -= cost;
        pass(queue);
        if (call.alone || taken.length >= callsMax) {
          if (front(queue) === undefined) endTurn(queue);
          return taken;
        }
      }
      endTurn(queue);
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

  function drain(): UpstreamCall[] {
    spread();
    const all: UpstreamCall[] = [];
    for (const queue of queues.values()) {
      for (let call = front(queue); call !== undefined; call = front(queue)) {
        all.push(call);
        pass(queue);
      }
    }
    queues.clear();
    first = undefined;
    last = undefined;
    backlog = 0;
    return all;
  }

  return {
    push(call: UpstreamCall): void {
      fresh.push(call);
    },
    /** How many calls wait. */
    count: () => fresh.length + backlog,
    /** Takes out the calls of the next request; at least one where one waits. */
    take(limits: TakeLimits): UpstreamCall[] {
      const isMixed = mayMix && limits.isMixed !== false;
      if (backlog === 0 && isOneRequest(limits.callsMax, isMixed)) {
        const { taken, rest } = takeArray(fresh, limits);
        fresh = rest;
        return taken;
      }
      spread();
      return takeByTurns(limits, isMixed);
    },
    /** Takes out everything. */
    drain,
    forEach(visit: (call: UpstreamCall) => void): void {
      for (const call of fresh) visit(call);
      for (const { calls } of queues.values()) for (const call of calls) if (call !== undefined) visit(call);
    },
    /** Takes out the calls that were settled while they waited. */
    dropSettled(): void {
      if (fresh.some(({ settled }) => settled)) fresh = fresh.filter(({ settled }) => !settled);
      for (const queue of queues.values()) {
        const before = queue.calls.length - queue.at;
        queue.calls = queue.calls.filter((call) => call?.settled === false);
        queue.at = 0;
        backlog -= before - queue.calls.length;
      }
    },
    /**
     * Makes room for one more call of `group` in a full queue: takes out the latest call of the key with most waiting
     * calls. Undefined where that key is `group` itself.
     */
    makeRoom(group: string | undefined): UpstreamCall | undefined {
      spread();
      let longest: KeyQueue | undefined;
      let most = lengthOf(queues.get(group));
      for (const queue of queues.values()) {
        if (lengthOf(queue) <= most + 1) continue;
        longest = queue;
        most = lengthOf(queue);
      }
      const call = longest?.calls.pop();
      if (call !== undefined) backlog -= 1;
      return call;
    },
  };
}

function lengthOf(queue: KeyQueue | undefined): number {
  return queue === undefined ? 0 : queue.calls.length - queue.at;
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
