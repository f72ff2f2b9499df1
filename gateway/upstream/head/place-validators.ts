import type { AnnouncedChain } from "./announced-chain.ts";
import type { HeaderProof } from "./header-proof.ts";
import { answers, isOurs, type Member, type Standing } from "./validator.ts";

/** Says anew where each validator stands, from what it told last and from the announced head. */
export function placeMembers({
  chain,
  proof,
  members,
  chainId,
  genesisHash,
  jumpBlocksMax,
  nowMs,
}: {
  chain: AnnouncedChain;
  proof: HeaderProof;
  members: readonly Member[];
  chainId: bigint;
  /** Undefined until it is decided. */
  genesisHash: string | undefined;
  jumpBlocksMax: number;
  nowMs: number;
}): void {
  for (const { label, tip } of members) if (tip !== undefined) chain.offer(label, tip.header, tip.seenAtMs);
  for (const member of members) {
    member.standing = standingOf({ member, chain, chainId, genesisHash, nowMs });
    if (isForged({ member, chain, proof, nowMs })) {
      member.standing = { kind: "forged", at: member.tip?.header.number ?? 0n };
    }
  }
  for (const member of members) {
    if (isUnbelievable({ member, members, chain, jumpBlocksMax })) member.standing = { kind: "unbelieved" };
    noteHeld(member, chain);
    const { kind } = member.standing;
    const isUnlinked = kind === "gap" || kind === "far";
    member.unlinkedSinceMs = isUnlinked ? (member.unlinkedSinceMs ?? nowMs) : undefined;
  }
}

function standingOf({
  member,
  chain,
  chainId,
  genesisHash,
  nowMs,
}: {
  member: Member;
  chain: AnnouncedChain;
  chainId: bigint;
  genesisHash: string | undefined;
  nowMs: number;
}): Standing {
  if (member.chainId === undefined || member.tip === undefined) return { kind: "unknown" };
  if (member.chainId !== chainId) return { kind: "foreign", why: `chain id ${member.chainId}` };
  if (genesisHash === undefined) return { kind: "unknown" };
  if (member.genesisHash !== genesisHash) {
    return { kind: "foreign", why: `genesis block ${member.genesisHash}` };
  }
  const placement = chain.place(member.label, member.tip.header);
  if (placement.kind !== "far") {
    member.far = undefined;
    return placement.kind === "nothing_announced" ? { kind: "ready" } : placement;
  }
  member.far ??= { sinceMs: nowMs, sameAt: undefined, otherAt: undefined, also: undefined };
  if (member.far.sameAt !== undefined) return { kind: "has" };
  return member.far.otherAt === undefined ? placement : { kind: "diverged", at: member.far.otherAt };
}

/** Its latest block is above the head, and its seals say that it is no block. */
function isForged({
  member: { label, standing, tip },
  chain,
  proof,
  nowMs,
}: {
  member: Member;
  chain: AnnouncedChain;
  proof: HeaderProof;
  nowMs: number;
}): boolean {
  // The genesis block has no seals.
  if (tip === undefined || tip.header.number === 0n || tip.header.number <= (chain.head()?.number ?? -1n))
    return false;
  const { kind } = standing;
  if (kind !== "has" && kind !== "ready" && kind !== "gap" && kind !== "far") return false;
  return proof.judge(tip.header, label, nowMs) === "refuted";
}

/** It stands alone, more than `jumpBlocksMax` above the head and all others. */
function isUnbelievable({
  member,
  members,
  chain,
  jumpBlocksMax,
}: {
  member: Member;
  members: readonly Member[];
  chain: AnnouncedChain;
  jumpBlocksMax: number;
}): boolean {
  const { kind } = member.standing;
  if (member.tip === undefined || (kind !== "has" && kind !== "ready")) return false;
  let highest = chain.head()?.number ?? 0n;
  let others = 0;
  for (const other of members) {
    if (other === member || !answers(other) || !isOurs(other) || other.tip === undefined) continue;
    others += 1;
    if (other.tip.header.number > highest) highest = other.tip.header.number;
  }
  return others > 0 && member.tip.header.number - highest > BigInt(jumpBlocksMax);
}

function noteHeld(member: Member, chain: AnnouncedChain): void {
  const { kind } = member.standing;
  const head = chain.head();
  if (kind === "has" && head !== undefined) {
    member.reached = head.number;
    // One that is far ahead is known to have what it was asked for, not what was announced since.
    member.holds = member.far?.sameAt ?? head.number;
    // What was asked for has helped: the next gap need not wait.
    member.filledAtMs = undefined;
  } else if (kind !== "gap" && kind !== "far") member.holds = -1n;
}
