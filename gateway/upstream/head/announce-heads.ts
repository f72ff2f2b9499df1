import { createAnnouncedChain } from "./announced-chain.ts";
import { createEpochWatch } from "./epoch-watch.ts";
import { createGenesis } from "./genesis.ts";
import type { HeadLimits } from "./head-limits.ts";
import { createHeaderProof } from "./header-proof.ts";
import { earlier, nextHead } from "./next-head.ts";
import { placeValidators } from "./place-validators.ts";
import type { Header } from "./read-header.ts";
import type { TrackedValidator } from "./validator.ts";

/** What happens to the chain, in the order in which listeners hear of it. */
export type HeadEvent =
  | { kind: "genesis"; hash: string }
  | { kind: "head"; header: Header; skipped: bigint }
  | { kind: "epoch"; reason: string };

export type HeadAnnouncer = ReturnType<typeof createHeadAnnouncer>;

/** Decides the genesis block, the announced blocks and the beginning of a new chain, from what the validators report. */
export function createHeadAnnouncer({
  validators,
  chainId,
  genesisHash: configuredGenesisHash,
  limits,
}: {
  validators: ReadonlyMap<string, TrackedValidator>;
  chainId: bigint;
  genesisHash: string | undefined;
  limits: HeadLimits;
}) {
  const chain = createAnnouncedChain(limits);
  const proof = createHeaderProof(limits);
  const epochWatch = createEpochWatch({ confirmMs: limits.epochConfirmMs, graceMs: limits.epochGraceMs });
  const all = [...validators.values()];
  const genesis = createGenesis({ validators: all, chainId, configuredHash: configuredGenesisHash, limits });
  let firstTipAtMs: number | undefined;
  /** When a block was last announced; before the first one, when this began. */
  let announcedAtMs: number | undefined;

  /** Announces each block that is due. Returns when the next one may be due. */
  function announceAll(nowMs: number, events: HeadEvent[]): number | undefined {
    if (chain.head() === undefined) {
      if (all.some(({ standing }) => standing.kind === "ready")) firstTipAtMs ??= nowMs;
      if (!proof.isSealed()) learnGenesis(nowMs);
    }
    for (;;) {
      const next = nextHead({ chain, proof, validators: all, nowMs, firstTipAtMs, limits });
      if (next.header === undefined) return next.lookAgainAtMs;
      for (const label of chain.contradictedBy(next.header)) {
        const validator = validators.get(label);
        if (validator === undefined) continue;
        validator.contradicted = { number: next.header.number, untilMs: nowMs + limits.distrustMs };
      }
      events.push({ kind: "head", header: next.header, skipped: chain.advance(next.header) });
      proof.announced(next.header);
      announcedAtMs = nowMs;
      placeAll(nowMs);
    }
  }

  /** The first sealers are in the genesis block, whose hash is known to be right. */
  function learnGenesis(nowMs: number): void {
    const block = all.find(
      (validator) => genesis.is(validator.genesis) && proof.isAuthentic(validator.genesis),
    )?.genesis;
    if (block === undefined) return;
    proof.beginWith(block);
    placeAll(nowMs);
  }

  function beginEpoch(newGenesisHash: string, sinceMs: number): void {
    chain.reset();
    proof.reset();
    genesis.begin(newGenesisHash);
    // Validators have reported their blocks since the suspicion began, so there is no second wait.
    firstTipAtMs = sinceMs;
    for (const validator of all) {
      validator.reached = -1n;
      validator.holds = -1n;
      validator.far = undefined;
      validator.contradicted = undefined;
    }
  }

  function placeAll(nowMs: number): void {
    const { jumpBlocksMax } = limits;
    placeValidators({
      chain,
      proof,
      validators: all,
      chainId,
      genesisHash: genesis.hash(),
      jumpBlocksMax,
      nowMs,
    });
  }

  /** Begins a new epoch where the chain is another one. Returns when to look again; `nextAtMs` where nothing changed. */
  function watchEpoch(
    known: string,
    nextAtMs: number | undefined,
    nowMs: number,
    events: HeadEvent[],
  ): number | undefined {
    const verdict = epochWatch.check({
      chain,
      validators: all,
      chainId,
      genesisHash: known,
      genesisIsConfigured: configuredGenesisHash !== undefined,
      isSealed: proof.isSealed(),
      nowMs,
    });
    if (verdict.kind === "suspected") return earlier(nextAtMs, verdict.decidedAtMs);
    if (verdict.kind === "same") return nextAtMs;
    events.push({ kind: "epoch", reason: verdict.reason });
    beginEpoch(verdict.genesisHash, verdict.isOutvoted ? nowMs - limits.followMs : verdict.sinceMs);
    placeAll(nowMs);
    return announceAll(nowMs, events);
  }

  return {
    chain,
    proof,
    genesisHash: genesis.hash,
    announcedAtMs: () => announcedAtMs,
    /** Decides what follows from the validators' reports, and when to decide again though nothing happens. */
    settle(nowMs: number): { events: HeadEvent[]; lookAgainAtMs: number | undefined } {
      const events: HeadEvent[] = [];
      announcedAtMs ??= nowMs;
      const decided = genesis.decide(nowMs);
      if (decided !== undefined) events.push({ kind: "genesis", hash: decided });
      placeAll(nowMs);
      const nextAtMs = announceAll(nowMs, events);
      const known = genesis.hash();
      const lookAgainAtMs =
        known === undefined
          ? (genesis.undecidedUntilMs(nowMs) ?? nextAtMs)
          : watchEpoch(known, nextAtMs, nowMs, events);
      return { events, lookAgainAtMs };
    },
  };
}
