import { type PoolHead, tierOf } from "./choose.ts";
import { lightLane } from "./lanes.ts";
import type { Validator } from "./validator.ts";

export type ValidatorDraw = ReturnType<typeof createValidatorDraw>;

/** How long a validator may be behind the head and still get its senders' transactions. */
const behindMsMax = 3000;
/**
 * A validator that was out gets its senders back after this time. It returns with an empty pool, and nobody sends it again
 * what waits in the other pools. Blocks (2 s) have to take that in first, or the next nonce would be one too low. A restart
 * that no call met counts as well: a connection that the validator closed tells of it.
 */
const settledAfterMs = 5000;

/** Finds the validator that a name is drawn to, among the best that are left. */
export function createValidatorDraw({
  validators,
  head,
  now,
}: {
  validators: readonly Validator[];
  head: PoolHead;
  now: () => number;
}) {
  /**
   * Validators change slower here than for reads. With each change a sender's nonces meet another pool, which may not know
   * its latest transaction. So neither a moment's silence counts nor a block that comes a little later.
   */
  function steadyTier(validator: Validator): number {
    const tier = tierOf(validator, lightLane, head);
    if (tier >= 3) return tier;
    // It would only pass a transaction on to a validator, and its pool is one more that can lose it.
    if (validator.isReplica) return 3;
    const lostAtMs = head.connectionLostAtMs?.(validator.label) ?? Number.NEGATIVE_INFINITY;
    if (now() - Math.max(validator.wasOutAtMs, lostAtMs) < settledAfterMs) return 2;
    if (isOffTheChain(validator)) return 2;
    if (validator.behindSinceMs !== undefined && now() - validator.behindSinceMs > behindMsMax) return 2;
    // When the gateway starts it knows nobody's past: all are alike then, and one that is lost meanwhile is not.
    return now() - (validator.firstInAtMs ?? now()) < settledAfterMs ? 1 : 0;
  }

  /** It tells a block at or above the head without the announced one below: then it is not late, but may be lying. */
  function isOffTheChain({ label }: Validator): boolean {
    const height = head.heightOf?.(label);
    const announced = head.announced();
    if (height === undefined || announced === undefined || head.isEligible(label)) return false;
    return height >= announced.number;
  }

  /** `excluded` has a bit for each validator that was tried. Undefined where none is left that may be. */
  function draw(name: string, excluded: number): Validator | undefined {
    let best: { validator: Validator; tier: number; score: number } | undefined;
    let isSomebodySound = false;
    for (const validator of validators) {
      const tier = steadyTier(validator);
      if (tier <= 1) isSomebodySound = true;
      if (tier === 4 || (validator.bit & excluded) !== 0) continue;
      const score = rendezvousScore(name, validator.url);
      if (best === undefined || tier < best.tier || (tier === best.tier && score > best.score)) {
        best = { validator, tier, score };
      }
    }
    return best !== undefined && best.tier >= 3 && isSomebodySound ? undefined : best?.validator;
  }

  /** No validator has been out lately, is behind, or is off the chain: senders stay where they are. */
  const isCalm = () =>
    validators.every(
      (validator) => validator.stay !== "configured" || validator.isReplica || steadyTier(validator) <= 1,
    );

  /** It is of our chain, and answers as far as is known. */
  const isInUse = (validator: Validator) =>
    tierOf(validator, lightLane, head) <= 2 && !isOffTheChain(validator);

  return {
    draw,
    /**
     * The other validators that may have got the latest transaction of a name, since another gateway may see their state
     * in another way: the next one in the name's order, and while this gateway sees trouble all that are in use.
     */
    others(name: string): Validator[] {
      const first = draw(name, 0);
      const next = first === undefined ? undefined : draw(name, first.bit);
      const isTrouble = !isCalm();
      const isAsked = (validator: Validator) => validator === next || isTrouble;
      return validators.filter(
        (validator) => validator !== first && isAsked(validator) && isInUse(validator),
      );
    },
  };
}

/**
 * How strongly a name is drawn to a validator (rendezvous hashing): the highest score gets it. All replicas find the same
 * validator, and where one goes only its own names move. FNV-1a, then the finalizer of MurmurHash3.
 */
export function rendezvousScore(name: string, validator: string): number {
  let hash = 0x811c9dc5;
  for (const text of [validator, "\n", name]) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
