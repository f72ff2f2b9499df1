import { createAnnouncedChain } from "./announced-chain.ts";
import { createDueHeads, type HeadEvent } from "./due-heads.ts";
import { createEpochWatch } from "./epoch-watch.ts";
import { createGenesis } from "./genesis.ts";
import type { HeadLimits } from "./head-limits.ts";
import { createHeaderProof } from "./header-proof.ts";
import { earlier } from "./next-head.ts";
import { placeValidators } from "./place-validators.ts";
import type { Header } from "./read-header.ts";
import type { TrackedValidator } from "./validator.ts";

export type HeadAnnouncer = ReturnType<typeof createHeadAnnouncer>;

export type HeadAnnouncerOptions = {
  /** The validators by their labels, and the same ones in order. Both may change in place. */
  validators: ReadonlyMap<string, TrackedValidator>;
  all: readonly TrackedValidator[];
  /** Those of them that decide; it may change in place, too. */
  voters: readonly TrackedValidator[];
  chainId: bigint;
  genesisHash: string | undefined;
  limits: HeadLimits;
  /** Where another process has announced before: this one goes on from there. */
  resume?: ResumedHead | undefined;
};

/** What was announced last, and when (monotonic milliseconds of this process). */
export type ResumedHead = { header: Header; genesisHash: string; announcedAtMs: number };

/** Decides the genesis block, the announced blocks and the beginning of a new chain, from what the validators report. */
export function createHeadAnnouncer(options: HeadAnnouncerOptions) {
  const { validators, all, voters, chainId, genesisHash: configuredGenesisHash, limits, resume } = options;
  const chain = createAnnouncedChain(limits);
  const proof = createHeaderProof(limits);
  const epochWatch = createEpochWatch({ confirmMs: limits.epochConfirmMs, graceMs: limits.epochGraceMs });
  const genesis = createGenesis({
    validators: voters,
    chainId,
    configuredHash: configuredGenesisHash ?? resume?.genesisHash,
    limits,
  });
  const due = createDueHeads({
    chain,
    proof,
    validators,
    all: voters,
    limits,
    placeAll,
    learnGenesis,
    announcedAtMs: resume?.announcedAtMs,
  });
  if (resume !== undefined && resume.genesisHash === genesis.hash()) {
    chain.advance(resume.header);
    proof.announced(resume.header);
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
    due.begin(sinceMs);
    for (const validator of all) forgetBlocks(validator);
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
      validators: voters,
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
    return due.announce(nowMs, events);
  }

  return {
    chain,
    proof,
    genesisHash: genesis.hash,
    announcedAtMs: due.announcedAtMs,
    /** Decides what follows from the validators' reports, and when to decide again though nothing happens. */
    settle(nowMs: number): { events: HeadEvent[]; lookAgainAtMs: number | undefined } {
      const events: HeadEvent[] = [];
      const decided = genesis.decide(nowMs);
      if (decided !== undefined) events.push({ kind: "genesis", hash: decided });
      placeAll(nowMs);
      const nextAtMs = due.announce(nowMs, events);
      const known = genesis.hash();
      const lookAgainAtMs =
        known === undefined
          ? (genesis.undecidedUntilMs(nowMs) ?? nextAtMs)
          : watchEpoch(known, nextAtMs, nowMs, events);
      return { events, lookAgainAtMs };
    },
  };
}

/** Nothing that it reported of the old chain counts. */
function forgetBlocks(validator: TrackedValidator): void {
  validator.reached = -1n;
  validator.holds = -1n;
  validator.far = undefined;
  validator.contradicted = undefined;
}
