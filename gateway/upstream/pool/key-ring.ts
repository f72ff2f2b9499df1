import type { UpstreamCall } from "./upstream-call.ts";

/** The waiting calls of a key; those before `at` are gone. `left` is what is left of its turn. */
export type KeyQueue = {
  readonly group: string | undefined;
  calls: (UpstreamCall | undefined)[];
  at: number;
  left: number;
  isItsTurn: boolean;
  /** The next in turn. */
  next: KeyQueue | undefined;
};

/** Up to so many places before `at` are kept, so that they are not cut off one by one. */
const gonePlacesMax = 512;

/** Waiting calls by their keys, and the order in which the keys have their turns: a linked list, so each step is O(1). */
export function createKeyRing() {
  const queues = new Map<string | undefined, KeyQueue>();
  let first: KeyQueue | undefined;
  let last: KeyQueue | undefined;
  let count = 0;

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

  /** The next call of a key that still wants an answer. */
  function front(queue: KeyQueue): UpstreamCall | undefined {
    while (queue.at < queue.calls.length) {
      const call = queue.calls[queue.at];
      if (call !== undefined && !call.settled) return call;
      pass(queue);
    }
    return undefined;
  }

  /** Takes out the call that is at the front. */
  function pass(queue: KeyQueue): void {
    // A gone call must not be kept alive by its queue.
    queue.calls[queue.at] = undefined;
    queue.at += 1;
    count -= 1;
    if (queue.at < gonePlacesMax || queue.at * 2 < queue.calls.length) return;
    queue.calls = queue.calls.slice(queue.at);
    queue.at = 0;
  }

  return {
    /** How many calls wait. */
    count: () => count,
    /** The key whose turn it is. */
    first: () => first,
    front,
    pass,
    /** Adds calls behind those of the same key. */
    add(calls: readonly UpstreamCall[]): void {
      count += calls.length;
      let queue: KeyQueue | undefined;
      for (const call of calls) {
        if (queue === undefined || queue.group !== call.group) queue = queueOf(call.group);
        queue.calls.push(call);
      }
    },
    /** Ends the turn of the first key: it comes last, or leaves if none of its calls wait. */
    endTurn(queue: KeyQueue): void {
      first = queue.next;
      if (first === undefined) last = undefined;
      queue.isItsTurn = false;
      if (queue.at < queue.calls.length) append(queue);
      else queues.delete(queue.group);
    },
    /** Takes out everything. */
    drain(): UpstreamCall[] {
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
      count = 0;
      return all;
    },
    forEach(visit: (call: UpstreamCall) => void): void {
      for (const { calls } of queues.values()) for (const call of calls) if (call !== undefined) visit(call);
    },
    /** Takes out the calls that were settled while they waited. */
    dropSettled(): void {
      for (const queue of queues.values()) count -= dropSettled(queue);
    },
    /** Takes out the latest call of the key with most waiting calls; none if `group` has as many, or one fewer. */
    popLongest(group: string | undefined): UpstreamCall | undefined {
      const call = longestOf(queues.values(), lengthOf(queues.get(group)))?.calls.pop();
      if (call !== undefined) count -= 1;
      return call;
    },
  };
}

/** Returns how many calls were dropped. */
function dropSettled(queue: KeyQueue): number {
  const before = lengthOf(queue);
  queue.calls = queue.calls.filter((call) => call?.settled === false);
  queue.at = 0;
  return before - queue.calls.length;
}

/** The queue with most calls, where that is at least two more than `length`. */
function longestOf(queues: Iterable<KeyQueue>, length: number): KeyQueue | undefined {
  let longest: KeyQueue | undefined;
  let most = length;
  for (const queue of queues) {
    if (lengthOf(queue) <= most + 1) continue;
    longest = queue;
    most = lengthOf(queue);
  }
  return longest;
}

function lengthOf(queue: KeyQueue | undefined): number {
  return queue === undefined ? 0 : queue.calls.length - queue.at;
}
