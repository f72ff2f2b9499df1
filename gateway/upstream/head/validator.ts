import type { Header } from "./read-header.ts";

/** What is known of one validator. */
export type TrackedValidator = {
  readonly label: string;
  /** Whether the first probe is over, answered or not. */
  probed: boolean;
  /** Probes in a row that were not answered, or whose answers could not be read. */
  failures: number;
  /** When it last proved that it answers: by a probe's answer, or by a head that it brought. */
  answeredAtMs: number | undefined;
  /** Why the last one was none, in words; undefined after one that was. */
  problem: string | undefined;
  /** It answered, and what it said of itself could not be read. */
  isUnreadable: boolean;
  chainId: bigint | undefined;
  genesisHash: string | undefined;
  /** The genesis block as it told it. */
  genesis: Header | undefined;
  tip: { header: Header; seenAtMs: number } | undefined;
  standing: Standing;
  /** While its tip is too far above the head to link: since when, and what it has at a number that was announced. */
  far: FarTip | undefined;
  /** The highest announced block of this epoch that it was seen to have. */
  reached: bigint;
  /** The same while nothing speaks against it: gone once it is lower, differs or is foreign. */
  holds: bigint;
  /** Since when its blocks above the head are not linked to it. */
  unlinkedSinceMs: number | undefined;
  /** When its gap was last asked for. */
  filledAtMs: number | undefined;
  /** It told another block of a number that was announced since. */
  contradicted: { number: bigint; untilMs: number } | undefined;
  /** Why it stands outside of what the others have, and so is not asked. */
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
 * quorum of seals. `alone`: nobody else has its newest block, which is not announced. `far_above`: a number that nobody
 * comes near. `another_chain`: chain id or genesis block. `unreadable`: what it says of itself cannot be read.
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

/** Where a validator stands towards the announced head. */
export type Standing =
  /** It has not answered, or it is not decided which chain is ours. */
  | { kind: "unknown" }
  | { kind: "foreign"; why: string }
  /** Ours, and nothing is announced yet. */
  | { kind: "ready" }
  | { kind: "has" }
  | { kind: "behind" }
  | { kind: "diverged"; at: bigint }
  /** Above the head by blocks that nobody has told of yet. */
  | { kind: "gap"; from: bigint; to: bigint }
  /** Too far above the head to fetch what is between, and not yet asked for the head. */
  | { kind: "far" }
  /** Its newest block is none: a quorum of validators did not seal it. */
  | { kind: "forged"; at: bigint }
  /** It claims a number that nobody else comes near. */
  | { kind: "unbelieved" };

export function createTrackedValidator(label: string): TrackedValidator {
  return {
    label,
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
