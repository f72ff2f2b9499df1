import type { AnnouncedChain } from "./announced-chain.ts";
import { answers, type Member } from "./member.ts";

export type EpochVerdict =
  | { kind: "same" }
  | { kind: "suspected"; decidedAtMs: number }
  | { kind: "new"; genesisHash: string; sinceMs: number; reason: string };

/**
 * Tells a chain that was reset, reverted or made anew from validators that are merely behind: every validator that
 * answers is lower than the head or has another block there, for `confirmMs`. Where they do not agree what the new chain
 * is, `graceMs` have to pass; also where they are merely lower and one that had the head cannot be asked, since it may
 * come back with it.
 */
export function createEpochWatch({ confirmMs, graceMs }: { confirmMs: number; graceMs: number }) {
  let sinceMs: number | undefined;

  return {
    check({
      chain,
      members,
      chainId,
      genesisHash,
      genesisIsConfigured,
      nowMs,
    }: {
      chain: AnnouncedChain;
      members: readonly Member[];
      chainId: bigint;
      genesisHash: string;
      genesisIsConfigured: boolean;
      nowMs: number;
    }): EpochVerdict {
      const head = chain.head();
      const witnesses = members.filter(
        (member) =>
          answers(member) &&
          member.chainId === chainId &&
          (!genesisIsConfigured || member.genesisHash === genesisHash),
      );
      if (head === undefined || witnesses.length === 0 || witnesses.some(hasHead)) {
        sinceMs = undefined;
        return { kind: "same" };
      }
      sinceMs ??= nowMs;
      const group = largestGroup(witnesses);
      const doubtful =
        group?.length !== witnesses.length ||
        witnesses.some(isUndecided) ||
        (members.some((member) => member.reached >= head.number && !group.includes(member)) &&
          !isProven(group, members));
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
      };
      sinceMs = undefined;
      return verdict;
    },
  };
}

function hasHead({ standing }: Member): boolean {
  return standing.kind === "has" || standing.kind === "unbelieved";
}

function isUndecided({ standing }: Member): boolean {
  return standing.kind === "gap" || standing.kind === "far" || standing.kind === "unknown";
}

/** Most of all validators have other blocks, not merely fewer. */
function isProven(group: readonly Member[], members: readonly Member[]): boolean {
  const isOther = ({ standing }: Member) => standing.kind === "foreign" || standing.kind === "diverged";
  return group.length > members.length / 2 && group.every(isOther);
}

/** Those of one genesis; undefined where two groups are equally large. */
function largestGroup(members: readonly Member[]): readonly Member[] | undefined {
  const groups = [...Map.groupBy(members, ({ genesisHash }) => genesisHash).values()].sort(
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
  group: readonly Member[];
  genesisHash: string;
  number: bigint;
}): string {
  if (group.some((member) => member.genesisHash !== genesisHash))
    return "the network has another genesis block";
  const diverged = group.find(({ standing }) => standing.kind === "diverged")?.standing;
  if (diverged?.kind === "diverged") return `every validator has another block ${diverged.at}`;
  return `every validator is below block ${number}`;
}
