import { createAnnouncedChain } from "./announced-chain.ts";
import { createEpochWatch } from "./epoch-watch.ts";
import type { HeadLimits } from "./head-limits.ts";
import { answers, createMember, isOurs, type Member } from "./member.ts";
import { earlier, nextHead } from "./next-head.ts";
import { placeMembers } from "./place-members.ts";
import type { Header } from "./read-header.ts";
import { voteGenesis } from "./vote-genesis.ts";

/** What a validator answered to a probe: who it is, and its latest block or only that block's number. */
export type Probe = {
  chainId: bigint;
  genesisHash: string;
  number: bigint;
  latest: Header | undefined;
  sentAtMs: number;
};

/** What follows from news, in the order in which it is to be told. */
export type HeadEvent =
  | { kind: "genesis"; hash: string }
  | { kind: "head"; header: Header; skipped: bigint }
  | { kind: "epoch"; reason: string };

/** What a validator is to be asked next. */
export type Want =
  | { kind: "probe"; label: string }
  | { kind: "fill"; label: string; from: bigint; to: bigint }
  | { kind: "verify"; label: string; numbers: readonly [head: bigint, tip: bigint] };

export type Outcome = { events: HeadEvent[]; wants: Want[]; lookAgainAtMs: number | undefined };

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
  const epochWatch = createEpochWatch({ confirmMs: limits.epochConfirmMs, graceMs: limits.epochGraceMs });
  const members = new Map(labels.map((label) => [label, createMember(label)]));
  const all = [...members.values()];
  let genesisHash = configuredGenesisHash;
  let firstAnswerAtMs: number | undefined;
  let firstTipAtMs: number | undefined;
  let headAtMs = 0;
  let answeringSinceMs: number | undefined;

  function settle(nowMs: number, wants: Want[] = []): Outcome {
    const events: HeadEvent[] = [];
    if (genesisHash === undefined) decideGenesis(nowMs, events);
    placeAll(nowMs);
    let lookAgainAtMs = announceAll(nowMs, events);
    if (genesisHash === undefined) {
      const dueAtMs = (firstAnswerAtMs ?? nowMs) + limits.genesisWaitMs;
      if (nowMs < dueAtMs) lookAgainAtMs = dueAtMs;
    } else {
      const verdict = epochWatch.check({
        chain,
        members: all,
        chainId,
        genesisHash,
        genesisIsConfigured: configuredGenesisHash !== undefined,
        nowMs,
      });
      if (verdict.kind === "suspected") lookAgainAtMs = earlier(lookAgainAtMs, verdict.decidedAtMs);
      if (verdict.kind === "new") {
        events.push({ kind: "epoch", reason: verdict.reason });
        beginEpoch(verdict.genesisHash, verdict.sinceMs);
        placeAll(nowMs);
        lookAgainAtMs = announceAll(nowMs, events);
      }
    }
    for (const member of all) addWant(member, wants, nowMs);
    answeringSinceMs = all.some((member) => answers(member) && isOurs(member))
      ? (answeringSinceMs ?? nowMs)
      : undefined;
    return { events, wants, lookAgainAtMs };
  }

  function decideGenesis(nowMs: number, events: HeadEvent[]): void {
    if (firstAnswerAtMs === undefined) {
      if (!all.some(answers)) return;
      firstAnswerAtMs = nowMs;
    }
    const waitedMs = nowMs - firstAnswerAtMs;
    genesisHash = voteGenesis({ members: all, chainId, waitedMs, genesisWaitMs: limits.genesisWaitMs });
    if (genesisHash !== undefined) events.push({ kind: "genesis", hash: genesisHash });
  }

  function announceAll(nowMs: number, events: HeadEvent[]): number | undefined {
    if (chain.head() === undefined && all.some(({ standing }) => standing.kind === "ready")) {
      firstTipAtMs ??= nowMs;
    }
    for (;;) {
      const next = nextHead({ chain, members: all, nowMs, firstTipAtMs, followMs: limits.followMs });
      if (next.header === undefined) return next.lookAgainAtMs;
      events.push({ kind: "head", header: next.header, skipped: chain.advance(next.header) });
      headAtMs = nowMs;
      placeAll(nowMs);
    }
  }

  function beginEpoch(newGenesisHash: string, sinceMs: number): void {
    chain.reset();
    genesisHash = newGenesisHash;
    // What validators have now they have told since the suspicion began: it needs no second wait.
    firstTipAtMs = sinceMs;
    for (const member of all) {
      member.reached = -1n;
      member.holds = -1n;
      member.far = undefined;
    }
  }

  function placeAll(nowMs: number): void {
    placeMembers({ chain, members: all, chainId, genesisHash, jumpBlocksMax: limits.jumpBlocksMax, nowMs });
  }

  function addWant(member: Member, wants: Want[], nowMs: number): void {
    const { label, standing, filledAtMs, tip } = member;
    const head = chain.head();
    const isFar = member.far !== undefined && member.far.sameAt === undefined;
    if (head === undefined || tip === undefined || (standing.kind !== "gap" && !isFar)) return;
    if (filledAtMs !== undefined && nowMs - filledAtMs < limits.fillPauseMs) return;
    if (standing.kind === "gap") wants.push({ kind: "fill", label, from: standing.from, to: standing.to });
    else wants.push({ kind: "verify", label, numbers: [head.number, tip.header.number] });
    member.filledAtMs = nowMs;
  }

  return {
    probed(label: string, probe: Probe, nowMs: number): Outcome {
      const member = members.get(label);
      if (member === undefined) return settle(nowMs);
      member.probed = true;
      member.failures = 0;
      member.chainId = probe.chainId;
      member.genesisHash = probe.genesisHash;
      const { tip } = member;
      // What came over the WebSocket after the probe left may be newer than its answer.
      const isOld = tip !== undefined && tip.seenAtMs > probe.sentAtMs && probe.number < tip.header.number;
      if (isOld) return settle(nowMs);
      if (probe.latest === undefined) {
        const differs = tip?.header.number !== probe.number;
        return settle(nowMs, differs ? [{ kind: "probe", label }] : []);
      }
      setTip(member, probe.latest, nowMs);
      return settle(nowMs);
    },

    /** A header that a validator brought by itself. One that is not above what it told before proves nothing alone. */
    headed(label: string, header: Header, nowMs: number): Outcome {
      const member = members.get(label);
      if (member === undefined) return settle(nowMs);
      const tip = member.tip?.header;
      if (tip === undefined || header.number > tip.number) {
        setTip(member, header, nowMs);
        return settle(nowMs);
      }
      const isKnown = header.hash === tip.hash || chain.knows(header);
      return settle(nowMs, isKnown ? [] : [{ kind: "probe", label }]);
    },

    failed(label: string, nowMs: number): Outcome {
      const member = members.get(label);
      if (member !== undefined) {
        member.probed = true;
        member.failures += 1;
      }
      return settle(nowMs);
    },

    /** Headers that were asked for. */
    filled(headers: readonly Header[], nowMs: number): Outcome {
      for (const header of headers) chain.offer(header, nowMs);
      return settle(nowMs);
    },

    /** What a validator far ahead has at the head's number and at its own: only both together tie one to the other. */
    verified(label: string, [atHead, atTip]: readonly Header[], nowMs: number): Outcome {
      const member = members.get(label);
      const expected = atHead === undefined ? undefined : chain.hashOf(atHead.number);
      if (member?.far === undefined || atHead === undefined || expected === undefined) return settle(nowMs);
      if (atTip?.hash !== member.tip?.header.hash) return settle(nowMs, [{ kind: "probe", label }]);
      const isSame = atHead.hash === expected;
      member.far.sameAt = isSame ? atHead.number : undefined;
      member.far.otherAt = isSame ? undefined : atHead.number;
      return settle(nowMs);
    },

    settle,
    head: chain.head,
    genesisHash: () => genesisHash,
    member: (label: string) => members.get(label),
    isEligible(label: string): boolean {
      const member = members.get(label);
      const head = chain.head();
      if (member === undefined || head === undefined || member.failures >= limits.failuresMax) return false;
      // While its newest block is being linked a validator that had the head still has it.
      return member.holds >= head.number;
    },
    hasReached(label: string, number: bigint): boolean {
      const member = members.get(label);
      if (member?.tip === undefined) return false;
      const { kind } = member.standing;
      return kind === "has" || kind === "behind"
        ? member.tip.header.number >= number
        : member.holds >= number;
    },
    /** No new head for long though validators answer. */
    isStalled(nowMs: number): boolean {
      if (chain.head() === undefined || answeringSinceMs === undefined) return false;
      return nowMs - Math.max(headAtMs, answeringSinceMs) >= limits.stalledAfterMs;
    },
  };
}

function setTip(member: Member, header: Header, nowMs: number): void {
  const before = member.tip?.header;
  if (before?.hash === header.hash) return;
  // What was found out about the tip before says nothing about one that is not its child.
  if (member.far !== undefined && header.parentHash !== before?.hash) {
    member.far = { sinceMs: member.far.sinceMs, sameAt: undefined, otherAt: undefined };
  }
  member.tip = { header, seenAtMs: nowMs };
}
