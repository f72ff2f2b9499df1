import { hasRoom, inFlight, type Validator, type ValidatorLane } from "./validator.ts";

/** What the pool has to know of the head. */
export type PoolHead = {
  /** The validator is of our chain and has the announced block. */
  isEligible(label: string): boolean;
  announced(): { number: bigint; hash: string } | undefined;
  /** Undefined where the validator is not known to be of our chain: it gets no calls then, however few are left. */
  heightOf?(label: string): bigint | undefined;
  /** When the validator last closed a connection (monotonic milliseconds): its process may have restarted. */
  connectionLostAtMs?(label: string): number | undefined;
};

export type Choose = (lane: number, excluded: number) => Validator | "busy" | "none";

/** Of weight 0. */
const dutyTier = 1.5;
/** The latency of a validator that was not measured yet. */
const meanMsMin = 0.05;

/**
 * Makes the function that chooses the validator for the next request. It picks two of the best at random and takes the one
 * with the lower product of requests in flight and latency ("the power of two choices"). `busy`: the best have no free
 * connection, and a worse one would not be faster. `none`: only those in `excluded` (a bit each) are left.
 *
 * A weight makes it as much more likely that a validator is one of the two, and divides the product: so busy ones share
 * calls by what they can take, and of idle ones that are equally fast the heavier of the two gets the call. One of weight 0
 * comes before those that are behind and after all others.
 */
export function createChoose({
  validators,
  head,
  random = Math.random,
}: {
  validators: readonly Validator[];
  head: PoolHead;
  random?: () => number;
}): Choose {
  // Filled anew for each choice. One array for all, since it holds only what lives as long.
  const best: Validator[] = [];

  return function choose(lane, excluded) {
    let bestTier = 4;
    let isSomebodySound = false;
    best.length = 0;
    for (const validator of validators) {
      const sound = tierOf(validator, lane, head);
      const tier = validator.weight === 0 && sound < dutyTier ? dutyTier : sound;
      if (tier <= 2 && !validator.health.isSuspect()) isSomebodySound = true;
      if ((validator.bit & excluded) !== 0 || tier > bestTier || tier === 4) continue;
      if (tier < bestTier) best.length = 0;
      bestTier = tier;
      best.push(validator);
    }
    // Ejected validators get calls only while none is sound: else a call that failed elsewhere would hang there.
    if (best.length === 0 || (bestTier === 3 && isSomebodySound)) return "none";
    return pick(lane) ?? "busy";
  };

  function pick(lane: number): Validator | undefined {
    let free = 0;
    let weights = 0;
    let isEven = true;
    for (const validator of best) {
      const validatorLane = validator.lanes[lane];
      if (validatorLane === undefined || !hasRoom(validator, validatorLane)) continue;
      if (validator.weight !== 1) isEven = false;
      weights += validator.weight;
      best[free] = validator;
      free += 1;
    }
    if (free <= 1) return free === 1 ? best[0] : undefined;
    if (!isEven && weights > 0) return pickByWeight(lane, free, weights);
    const first = Math.floor(random() * free);
    const second = (first + 1 + Math.floor(random() * (free - 1))) % free;
    const [one, other] = [best[first], best[second]];
    if (one === undefined || other === undefined) return one ?? other;
    return score(other.lanes[lane]) < score(one.lanes[lane]) ? other : one;
  }

  /** The first `free` of `best` have room, and `weights` together. */
  function pickByWeight(lane: number, free: number, weights: number): Validator | undefined {
    const first = drawn(free, random() * weights, undefined);
    const second = drawn(free, random() * (weights - (first?.weight ?? 0)), first);
    if (first === undefined || second === undefined) return first ?? second;
    return score(second.lanes[lane]) / second.weight < score(first.lanes[lane]) / first.weight
      ? second
      : first;
  }

  function drawn(free: number, at: number, except: Validator | undefined): Validator | undefined {
    let left = at;
    let last: Validator | undefined;
    for (let index = 0; index < free; index += 1) {
      const validator = best[index];
      if (validator === undefined || validator === except || validator.weight === 0) continue;
      last = validator;
      left -= validator.weight;
      if (left < 0) return validator;
    }
    return last;
  }
}

/** 0: sound. 1: silent or slow at the moment. 2: behind the head. 3: ejected. 4: never used, or not any more. */
export function tierOf(validator: Validator, lane: number, head: PoolHead): number {
  const { health, label } = validator;
  if (validator.stay !== "configured") return 4;
  if (head.heightOf !== undefined && head.heightOf(label) === undefined) return 4;
  if (health.state() === "open") return 3;
  if (!head.isEligible(label)) return 2;
  return health.isSuspect() || validator.lanes[lane]?.isSlow === true ? 1 : 0;
}

function score(lane: ValidatorLane | undefined): number {
  if (lane === undefined) return Number.POSITIVE_INFINITY;
  return (inFlight(lane) + 1) * Math.max(lane.latency.meanMs(), meanMsMin);
}
