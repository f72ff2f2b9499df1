import type { Header } from "./read-header.ts";

/** What is known of one validator and its place on the chain. */
export type TrackedValidator = {
  readonly label: string;
  /** It seals no blocks: what the head is is decided without it. */
  readonly isReplica: boolean;
  /** Its first probe is over, answered or not. */
  probed: boolean;
  /** Probes in a row without an answer that could be read. */
  failures: number;
  /** When it last answered a probe or sent a head. */
  answeredAtMs: number | undefined;
  /** Why the last probe failed, in words; undefined where it did not. */
  problem: string | undefined;
  /** It answered the probe, and its answer could not be read. */
  isUnreadable: boolean;
  chainId: bigint | undefined;
  genesisHash: string | undefined;
  /** The genesis block as it sent it. */
  genesis: Header | undefined;
  tip: { header: Header; seenAtMs: number } | undefined;
  standing: Standing;
  /** Set while its tip is too far above the head to link: since when, and what it has at an announced number. */
  far: FarTip | undefined;
  /** The highest announced block of this epoch that it has had. */
  reached: bigint;
  /** The highest that it still has: -1 once it is lower, differs or is foreign. */
  holds: bigint;
  /** Since when its blocks above the head are not linked to it. */
  unlinkedSinceMs: number | undefined;
  /** When it last got a lookup. */
  filledAtMs: number | undefined;
  /** It reported another block of a number that was announced since. */
  contradicted: { number: bigint; untilMs: number } | undefined;
  /** How it differs from the others, so that it gets no calls. */
  outside: Outside | undefined;
};

export type FarTip = {
  sinceMs: number;
  sameAt: bigint | undefined;
  otherAt: bigint | undefined;
  /** The number of another tip that is far ahead, and the hash that it has there. */
  also: { number: bigint; hash: string | undefined } | undefined;
};

/**
 * How a validator differs from the others. `another_block`: at an announced number. `no_seals`: its newest block has no
 * quorum of seals. `alone`: only it has its newest block, which is not announced. `far_above`: its number is far above all
 * others. `another_chain`: it has another chain ID or genesis block. `unreadable`: its answers to probes cannot be read.
 */
export const outsideReasons = [
  "another_block",
  "no_seals",
  "alone",
  "far_above",
  "another_chain",
  "unreadable",
] as const;
export type Outside = { reason: (typeof outsideReasons)[number]; words: string };

/** Where a validator is, compared with the announced head. */
export type Standing =
  /** It has not answered, or our chain is not decided yet. */
  | { kind: "unknown" }
  | { kind: "foreign"; why: string }
  /** It is of our chain, and nothing is announced yet. */
  | { kind: "ready" }
  | { kind: "has" }
  | { kind: "behind" }
  | { kind: "diverged"; at: bigint }
  /** Above the head by blocks that are not known yet. */
  | { kind: "gap"; from: bigint; to: bigint }
  /** Too far above the head to fetch the blocks between, and not yet known to have the head. */
  | { kind: "far" }
  /** Its newest block is forged: no quorum of validators sealed it. */
  | { kind: "forged"; at: bigint }
  /** It reports a number far above all others. */
  | { kind: "unbelieved" };

export function createTrackedValidator(label: string, isReplica = false): TrackedValidator {
  return {
    label,
    isReplica,
    probed: false,
    failures: 0,
    answeredAtMs: undefined,
    problem: undefined,
    isUnreadable: false,
    chainId: undefined,
    genesisHash: undefined,
    genesis: undefined,
    tip: undefined,
    standing: { kind: "unknown" },
    far: undefined,
    reached: -1n,
    holds: -1n,
    unlinkedSinceMs: undefined,
    filledAtMs: undefined,
    contradicted: undefined,
    outside: undefined,
  };
}

/** It answered the last probe. */
export function answers(validator: TrackedValidator): boolean {
  return validator.probed && validator.failures === 0;
}

export function isOurs({ standing }: TrackedValidator): boolean {
  return standing.kind !== "unknown" && standing.kind !== "foreign";
}
