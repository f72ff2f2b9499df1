import type { AnnouncedChain } from "./announced-chain.ts";
import { answers, type TrackedValidator } from "./validator.ts";

export type EpochVerdict =
  | { kind: "same" }
  | { kind: "suspected"; decidedAtMs: number }
  | {
      kind: "new";
      genesisHash: string;
      sinceMs: number;
      reason: string;
      /** Most validators have other blocks than the announced ones, which were the lie of a few. */
      isOutvoted: boolean;
    };

/**
 * Tells a chain that was reset, reverted or made anew from validators that are merely behind. On a new chain every validator
 * that answers is lower than the head or has another block there, for `confirmMs`. It takes `graceMs` where they do not agree
 * on the new chain. It also takes `graceMs` where they are merely lower and one that had the head does not answer, because it
 * may come back with it. Fewer than half of all validators make no new chain, however long the others are silent.
 *
 * Where some have the head and most of those that answer, at least two, have other blocks, the majority wins at once. A head
 * that its seals prove is given up for a majority of all validators only.
 */
export function createEpochWatch({ confirmMs, graceMs }: { confirmMs: number; graceMs: number }) {
  let sinceMs: number | undefined;

  return {
    check({
      chain,
      validators,
      chainId,
      genesisHash,
      genesisIsConfigured,
      isSealed,
      nowMs,
    }: {
      chain: AnnouncedChain;
      validators: readonly TrackedValidator[];
      chainId: bigint;
      genesisHash: string;
      genesisIsConfigured: boolean;
      isSealed: boolean;
      nowMs: number;
    }): EpochVerdict {
      const head = chain.head();
      const witnesses = validators.filter(
        (validator) =>
          answers(validator) &&
          validator.standing.kind !== "forged" &&
          validator.chainId === chainId &&
          (!genesisIsConfigured || validator.genesisHash === genesisHash),
      );
      if (head === undefined || witnesses.length === 0) {
        sinceMs = undefined;
        return { kind: "same" };
      }
      if (witnesses.some(hasHead)) {
        sinceMs = undefined;
        const group = largestGroup(witnesses.filter(isOther));
        const [first] = group ?? [];
        const needed = isSealed ? validators.length : witnesses.length;
        if (group === undefined || group.length < 2 || group.length <= needed / 2) return { kind: "same" };
        return {
          kind: "new",
          genesisHash: first?.genesisHash ?? genesisHash,
          sinceMs: nowMs,
          reason: `most validators have another chain: ${reasonOf({ group, genesisHash, number: head.number })}`,
          isOutvoted: true,
        };
      }
      sinceMs ??= nowMs;
      const group = largestGroup(witnesses);
      if (group !== undefined && group.length < validators.length / 2) {
        return { kind: "suspected", decidedAtMs: nowMs + graceMs };
      }
      const doubtful =
        group?.length !== witnesses.length ||
        witnesses.some(isUndecided) ||
        (validators.some((validator) => validator.reached >= head.number && !group.includes(validator)) &&
          !isProven(group, validators));
      const decidedAtMs = sinceMs + (doubtful ? graceMs : confirmMs);
      const newGenesisHash = group?.[0]?.genesisHash;
      if (nowMs < decidedAtMs || group === undefined || newGenesisHash === undefined) {
        return { kind: "suspected", decidedAtMs: Math.max(decidedAtMs, nowMs + confirmMs / 10) };
      }
      const verdict: EpochVerdict = {
        kind: "new",
        genesisHash: newGenesisHash,
        sinceMs,
        reason: reasonOf({ group, genesisHash, number: head.number }),
        isOutvoted: false,
      };
      sinceMs = undefined;
      return verdict;
    },
  };
}

function hasHead({ standing }: TrackedValidator): boolean {
  return standing.kind === "has" || standing.kind === "unbelieved";
}

function isUndecided({ standing }: TrackedValidator): boolean {
  return standing.kind === "gap" || standing.kind === "far" || standing.kind === "unknown";
}

/** A majority of all validators has other blocks, not merely fewer. */
function isProven(group: readonly TrackedValidator[], validators: readonly TrackedValidator[]): boolean {
  return group.length > validators.length / 2 && group.every(isOther);
}

function isOther({ standing }: TrackedValidator): boolean {
  return standing.kind === "foreign" || standing.kind === "diverged";
}

/** The largest group with one genesis block; undefined where two groups are equally large. */
function largestGroup(validators: readonly TrackedValidator[]): readonly TrackedValidator[] | undefined {
  const groups = [...Map.groupBy(validators, ({ genesisHash }) => genesisHash).values()].sort(
    (one, other) => other.length - one.length,
  );
  const [largest, second] = groups;
  return largest?.length === second?.length ? undefined : largest;
}

function reasonOf({
  group,
  genesisHash,
  number,
}: {
  group: readonly TrackedValidator[];
  genesisHash: string;
  number: bigint;
}): string {
  if (group.some((validator) => validator.genesisHash !== genesisHash))
    return "the network has another genesis block";
  const diverged = group.find(({ standing }) => standing.kind === "diverged")?.standing;
  if (diverged?.kind === "diverged") return `every validator has another block ${diverged.at}`;
  return `every validator is below block ${number}`;
}
