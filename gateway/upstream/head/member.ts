import type { Header } from "./read-header.ts";

/** What is known of one validator. */
export type Member = {
  readonly label: string;
  /** Whether the first probe is over, answered or not. */
  probed: boolean;
  /** Probes in a row that were not answered. */
  failures: number;
  chainId: bigint | undefined;
  genesisHash: string | undefined;
  tip: { header: Header; seenAtMs: number } | undefined;
  standing: Standing;
  /** While its tip is too far above the head to link: since when, and what it has at a number that was announced. */
  far: { sinceMs: number; sameAt: bigint | undefined; otherAt: bigint | undefined } | undefined;
  /** The highest announced block of this epoch that it was seen to have. */
  reached: bigint;
  /** The same while nothing speaks against it: gone once it is lower, differs or is foreign. */
  holds: bigint;
  /** When its gap was last asked for. */
  filledAtMs: number | undefined;
};

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
  /** It claims a number that nobody else comes near. */
  | { kind: "unbelieved" };

export function createMember(label: string): Member {
  return {
    label,
    probed: false,
    failures: 0,
    chainId: undefined,
    genesisHash: undefined,
    tip: undefined,
    standing: { kind: "unknown" },
    far: undefined,
    reached: -1n,
    holds: -1n,
    filledAtMs: undefined,
  };
}

/** It answered the last probe. */
export function answers(member: Member): boolean {
  return member.probed && member.failures === 0;
}

export function isOurs({ standing }: Member): boolean {
  return standing.kind !== "unknown" && standing.kind !== "foreign";
}
