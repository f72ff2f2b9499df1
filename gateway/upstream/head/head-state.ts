import { createAnnouncedChain } from "./announced-chain.ts";
import { createEpochWatch } from "./epoch-watch.ts";
import type { HeadLimits } from "./head-limits.ts";
import { createHeaderProof } from "./header-proof.ts";
import { type Candidate, earlier, farCandidates, nearCandidates, nextHead } from "./next-head.ts";
import { outsideOf } from "./outside-of.ts";
import { placeValidators } from "./place-validators.ts";
import type { Header } from "./read-header.ts";
import { answers, createTrackedValidator, type FarTip, type TrackedValidator } from "./validator.ts";
import { voteGenesis } from "./vote-genesis.ts";

/** What a validator answered to a probe: who it is, and its latest block or only that block's number. */
export type Probe = {
  chainId: bigint;
  genesis: Header;
  number: bigint;
  latest: Header | undefined;
  sentAtMs: number;
};

/** Why a probe told nothing. `isUnreadable`: it was answered, and what the answer says could not be read. */
export type ProbeFailure = { reason: string; isUnreadable: boolean };

/** A block above the head that is told and not announced. */
export type WaitingHead = { number: bigint; hash: string; having: readonly string[] };

/** What follows from news, in the order in which it is to be told. */
export type HeadEvent =
  | { kind: "genesis"; hash: string }
  | { kind: "head"; header: Header; skipped: bigint }
  | { kind: "epoch"; reason: string };

/** What a validator is to be asked next. To verify: what it has at the head's number, at its tip's and at another one's. */
export type Lookup =
  | { kind: "probe"; label: string }
  | { kind: "fill"; label: string; from: bigint; to: bigint }
  | { kind: "verify"; label: string; numbers: readonly bigint[] };

export type HeadUpdate = { events: HeadEvent[]; lookups: Lookup[]; lookAgainAtMs: number | undefined };

/**
 * All that is known of the chain and of the validators' place on it, without clock, sockets or timers: news come in with
 * their time (monotonic milliseconds), and what follows from them comes out.
 */
export function createHeadState({
  labels,
  chainId,
  genesisHash: configuredGenesisHash,
  limits,
}: {
  labels: readonly string[];
  chainId: bigint;
  genesisHash: string | undefined;
  limits: HeadLimits;
}) {
  const chain = createAnnouncedChain(limits);
  const proof = createHeaderProof(limits);
  const epochWatch = createEpochWatch({ confirmMs: limits.epochConfirmMs, graceMs: limits.epochGraceMs });
  const validators = new Map(labels.map((label) => [label, createTrackedValidator(label)]));
  const all = [...validators.values()];
  let genesisHash = configuredGenesisHash;
  let firstAnswerAtMs: number | undefined;
  let firstTipAtMs: number | undefined;
  /** When a block was last announced; before the first one, when this began. */
  let newsAtMs: number | undefined;
  let candidates: readonly Candidate[] = [];

  function settle(nowMs: number, lookups: Lookup[] = []): HeadUpdate {
    const events: HeadEvent[] = [];
    newsAtMs ??= nowMs;
    if (genesisHash === undefined) decideGenesis(nowMs, events);
    placeAll(nowMs);
    let lookAgainAtMs = announceAll(nowMs, events);
    if (genesisHash === undefined) {
      const dueAtMs = (firstAnswerAtMs ?? nowMs) + limits.genesisWaitMs;
      if (nowMs < dueAtMs) lookAgainAtMs = dueAtMs;
    } else {
      const verdict = epochWatch.check({
        chain,
        validators: all,
        chainId,
        genesisHash,
        genesisIsConfigured: configuredGenesisHash !== undefined,
        isSealed: proof.isSealed(),
        nowMs,
      });
      if (verdict.kind === "suspected") lookAgainAtMs = earlier(lookAgainAtMs, verdict.decidedAtMs);
      if (verdict.kind === "new") {
        events.push({ kind: "epoch", reason: verdict.reason });
        beginEpoch(verdict.genesisHash, verdict.isOutvoted ? nowMs - limits.followMs : verdict.sinceMs);
        placeAll(nowMs);
        lookAgainAtMs = announceAll(nowMs, events);
      }
    }
    for (const validator of all) addLookup(validator, lookups, nowMs);
    lookAgainAtMs = earlier(lookAgainAtMs, noteOutside(nowMs));
    return { events, lookups, lookAgainAtMs };
  }

  function decideGenesis(nowMs: number, events: HeadEvent[]): void {
    if (firstAnswerAtMs === undefined) {
      if (!all.some(answers)) return;
      firstAnswerAtMs = nowMs;
    }
    const waitedMs = nowMs - firstAnswerAtMs;
    genesisHash = voteGenesis({ validators: all, chainId, waitedMs, genesisWaitMs: limits.genesisWaitMs });
    if (genesisHash !== undefined) events.push({ kind: "genesis", hash: genesisHash });
  }

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
      newsAtMs = nowMs;
      placeAll(nowMs);
    }
  }

  /** Who sealed first stands in the genesis block, whose hash is known to be right. */
  function learnGenesis(nowMs: number): void {
    for (const { genesis } of all) {
      if (genesis === undefined || genesis.hash !== genesisHash || !proof.isAuthentic(genesis)) continue;
      proof.beginWith(genesis);
      placeAll(nowMs);
      return;
    }
  }

  function noteOutside(nowMs: number): number | undefined {
    const input = { chain, proof, validators: all, nowMs };
    candidates = chain.head() === undefined ? [] : [...nearCandidates(input), ...farCandidates(input)];
    let lookAgain: number | undefined;
    for (const validator of all) {
      const { outside, lookAgainAtMs } = outsideOf({ validator, validators: all, candidates, limits, nowMs });
      validator.outside = outside;
      lookAgain = earlier(lookAgain, lookAgainAtMs);
    }
    return lookAgain;
  }

  function beginEpoch(newGenesisHash: string, sinceMs: number): void {
    chain.reset();
    proof.reset();
    genesisHash = newGenesisHash;
    // What validators have now they have told since the suspicion began: it needs no second wait.
    firstTipAtMs = sinceMs;
    for (const validator of all) {
      validator.reached = -1n;
      validator.holds = -1n;
      validator.far = undefined;
      validator.contradicted = undefined;
    }
  }

  function placeAll(nowMs: number): void {
    placeValidators({
      chain,
      proof,
      validators: all,
      chainId,
      genesisHash,
      jumpBlocksMax: limits.jumpBlocksMax,
      nowMs,
    });
  }

  function addLookup(validator: TrackedValidator, lookups: Lookup[], nowMs: number): void {
    const { label, standing, filledAtMs, tip } = validator;
    const head = chain.head();
    const other = otherFarTip(validator, all);
    const isUnsure =
      validator.far !== undefined &&
      (validator.far.sameAt === undefined || other !== validator.far.also?.number);
    if (head === undefined || tip === undefined || (standing.kind !== "gap" && !isUnsure)) return;
    if (filledAtMs !== undefined && nowMs - filledAtMs < limits.fillPauseMs) return;
    if (standing.kind === "gap") lookups.push({ kind: "fill", label, from: standing.from, to: standing.to });
    else {
      const numbers = [head.number, tip.header.number];
      lookups.push({ kind: "verify", label, numbers: other === undefined ? numbers : [...numbers, other] });
    }
    validator.filledAtMs = nowMs;
  }

  return {
    probed(label: string, probe: Probe, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator === undefined) return settle(nowMs);
      validator.probed = true;
      validator.failures = 0;
      validator.answeredAtMs = nowMs;
      validator.chainId = probe.chainId;
      validator.problem = undefined;
      validator.isUnreadable = false;
      validator.genesisHash = probe.genesis.hash;
      // The object that was read before is kept: what was found out about it is remembered with it.
      if (validator.genesis?.hash !== probe.genesis.hash) {
        validator.genesis = probe.genesis;
        // What it told before is of the chain that it was on.
        validator.tip = undefined;
        validator.far = undefined;
      }
      const { tip } = validator;
      // What came over the WebSocket after the probe left may be newer than its answer.
      const isOld = tip !== undefined && tip.seenAtMs > probe.sentAtMs && probe.number < tip.header.number;
      if (isOld) return settle(nowMs);
      if (probe.latest === undefined) {
        const differs = tip?.header.number !== probe.number;
        return settle(nowMs, differs ? [{ kind: "probe", label }] : []);
      }
      setTip(validator, probe.latest, nowMs);
      return settle(nowMs);
    },

    /** A header that a validator brought by itself. One that is not above what it told before proves nothing alone. */
    headed(label: string, header: Header, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator === undefined) return settle(nowMs);
      validator.answeredAtMs = nowMs;
      const tip = validator.tip?.header;
      if (tip === undefined || header.number > tip.number) {
        setTip(validator, header, nowMs);
        return settle(nowMs);
      }
      const isKnown = header.hash === tip.hash || chain.knows(label, header);
      return settle(nowMs, isKnown ? [] : [{ kind: "probe", label }]);
    },

    failed(label: string, { reason, isUnreadable }: ProbeFailure, nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      if (validator !== undefined) {
        validator.probed = true;
        validator.failures += 1;
        validator.problem = reason;
        validator.isUnreadable = isUnreadable;
      }
      return settle(nowMs);
    },

    /** Headers that a validator was asked for. */
    filled(label: string, headers: readonly Header[], nowMs: number): HeadUpdate {
      for (const header of headers) chain.offer(label, header, nowMs);
      return settle(nowMs);
    },

    /**
     * What a validator far ahead has at the head's number and at its own: only both together tie one to the other. And
     * what it has where another one's tip is.
     */
    verified(label: string, [atHead, atTip, atOther]: readonly Header[], nowMs: number): HeadUpdate {
      const validator = validators.get(label);
      const expected = atHead === undefined ? undefined : chain.hashOf(atHead.number);
      if (validator?.far === undefined || atHead === undefined || expected === undefined)
        return settle(nowMs);
      if (atTip?.hash !== validator.tip?.header.hash) return settle(nowMs, [{ kind: "probe", label }]);
      const isSame = atHead.hash === expected;
      validator.far.sameAt = isSame ? atHead.number : undefined;
      validator.far.otherAt = isSame ? undefined : atHead.number;
      if (atOther !== undefined) validator.far.also = { number: atOther.number, hash: atOther.hash };
      return settle(nowMs);
    },

    settle,
    head: chain.head,
    genesisHash: () => genesisHash,
    validator: (label: string) => validators.get(label),
    isEligible(label: string): boolean {
      const validator = validators.get(label);
      const head = chain.head();
      if (validator === undefined || head === undefined || validator.failures >= limits.failuresMax)
        return false;
      if (validator.outside !== undefined) return false;
      // While its newest block is being linked a validator that had the head still has it.
      return validator.holds >= head.number;
    },
    /** Blocks that are told and wait for longer than blocks do. */
    waiting: (nowMs: number): WaitingHead[] =>
      candidates
        .filter(({ seenAtMs }) => nowMs >= seenAtMs + limits.followMs)
        .map(({ header: { number, hash }, having }) => ({ number, hash, having })),
    /** Since a block was last announced, or since the start. By the clock: no news is bad news, whoever is silent. */
    headAgeMs: (nowMs: number): number => nowMs - (newsAtMs ?? nowMs),
    /** No block for long, whether validators answer or not. */
    isStalled: (nowMs: number): boolean => nowMs - (newsAtMs ?? nowMs) >= limits.stalledAfterMs,
    /** How many validators have answered lately: a proof that is old is none. */
    answering: (nowMs: number): number =>
      all.filter(
        ({ failures, answeredAtMs }) =>
          failures < limits.failuresMax &&
          answeredAtMs !== undefined &&
          nowMs - answeredAtMs < limits.silentAfterMs,
      ).length,
  };
}

function setTip(validator: TrackedValidator, header: Header, nowMs: number): void {
  const before = validator.tip?.header;
  if (before?.hash === header.hash) return;
  // What was found out about the tip before says nothing about one that is not its child.
  if (validator.far !== undefined && header.parentHash !== before?.hash) {
    const unknown: FarTip = { ...validator.far, sameAt: undefined, otherAt: undefined, also: undefined };
    validator.far = unknown;
  }
  validator.tip = { header, seenAtMs: nowMs };
}

/** The highest tip below this validator's that another has, where both are far above the head. */
function otherFarTip(
  { tip, far }: TrackedValidator,
  validators: readonly TrackedValidator[],
): bigint | undefined {
  if (tip === undefined || far === undefined) return undefined;
  let highest: bigint | undefined;
  for (const other of validators) {
    const number = other.far?.sameAt === undefined ? undefined : other.tip?.header.number;
    if (number === undefined || number >= tip.header.number) continue;
    if (highest === undefined || number > highest) highest = number;
  }
  return highest;
}
