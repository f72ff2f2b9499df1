import { lookThrough } from "./backfill.ts";
import type { Round } from "./payer-context.ts";

/** How long to wait for transactions of the wallet that Redis does not know, and for a node that can tell of them. */
const patienceMs = 30_000;
/** Also wait for so many new blocks without them, since a stalled chain mines nothing. */
const patienceBlocks = 3;

/**
 * Chooses the nonce of the next signature: the one that Redis holds. The chain is further if somebody else uses the wallet, or
 * if Redis has lost something. Then the transactions on the chain are read first. A nonce never goes back.
 */
export function createNextNonce({ now }: { now: () => number }) {
  const chainPatience = createPatience({ now });
  const poolPatience = createPatience({ now });

  /** The chain's nonce for a Redis that has none. */
  async function takeFromChain(round: Round): Promise<number | undefined> {
    const { chain, store, fence, snapshot, logger } = round;
    // A pool may hold a payment of a faucet whose Redis is lost. A new signature at its nonce would replace it.
    if ((await chain.pendingNonce()) > snapshot.nonce && chainPatience.mustStillWait(round)) return undefined;
    const { complete, restored } = await lookThrough(round, { from: 0, before: snapshot.nonce });
    if (!complete && chainPatience.mustStillWait(round)) return undefined;
    if (!complete) {
      logger.warn(
        "the node cannot tell all payments of the last day: some addresses may claim again too early",
      );
    }
    await round.atPoint("before first nonce");
    await store.bindChain({ genesisHash: round.genesisHash, wallet: round.wallet.address });
    const moved = await store.moveNonce(fence, { from: undefined, to: snapshot.nonce });
    if (!moved) return undefined;
    logger.info({ nonce: snapshot.nonce, restored }, "the wallet's nonce was taken from the chain");
    return snapshot.nonce;
  }

  /** The chain is further than Redis: nonces were used that Redis does not know. */
  async function catchUpWithChain(round: Round, known: number): Promise<number | undefined> {
    const { store, fence, snapshot, logger, metrics } = round;
    const { complete, restored } = await lookThrough(round, { from: known, before: snapshot.nonce });
    if (!complete && chainPatience.mustStillWait(round)) return undefined;
    if (!(await store.moveNonce(fence, { from: known, to: snapshot.nonce }))) return undefined;
    const outside = snapshot.nonce - known - restored;
    metrics.outsideNonces.inc(outside);
    logger.warn({ from: known, to: snapshot.nonce, outside }, "the wallet was used from outside the faucet");
    return snapshot.nonce;
  }

  return {
    /** `undefined`: not known yet, so nothing is signed in this round. */
    async find(round: Round): Promise<number | undefined> {
      const known = await round.store.nonce();
      const isCurrent = known !== undefined && round.snapshot.nonce <= known;
      const nonce = isCurrent
        ? known
        : known === undefined
          ? await takeFromChain(round)
          : await catchUpWithChain(round, known);
      if (nonce !== undefined) chainPatience.renew();
      return nonce;
    },

    /**
     * Whether `nonce` may be signed. It may not while the node holds a transaction at it: either somebody else sent that, or a
     * faucet whose Redis has lost the signature. Once it is mined, `find` tells which. One that is never mined is replaced.
     */
    async isFree(round: Round, nonce: number): Promise<boolean> {
      if ((await round.chain.pendingNonce()) > nonce && poolPatience.mustStillWait(round)) return false;
      poolPatience.renew();
      return true;
    },
  };
}

/** A wait that begins when it is first asked for, and lasts `patienceMs` and `patienceBlocks`. */
function createPatience({ now }: { now: () => number }) {
  let since: { atMs: number; height: number } | undefined;
  return {
    mustStillWait({ snapshot: { height } }: Pick<Round, "snapshot">): boolean {
      since ??= { atMs: now(), height };
      return now() - since.atMs < patienceMs || height < since.height + patienceBlocks;
    },
    renew(): void {
      since = undefined;
    },
  };
}
