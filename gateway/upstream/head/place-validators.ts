import type { AnnouncedChain } from "./announced-chain.ts";
import type { HeaderProof } from "./header-proof.ts";
import { answers, isOurs, type Standing, type TrackedValidator } from "./validator.ts";

/** Places each validator anew, by its last report and the announced head. */
export function placeValidators({
  chain,
  proof,
  validators,
  chainId,
  genesisHash,
  jumpBlocksMax,
  nowMs,
}: {
  chain: AnnouncedChain;
  proof: HeaderProof;
  validators: readonly TrackedValidator[];
  chainId: bigint;
  /** Undefined until it is decided. */
  genesisHash: string | undefined;
  jumpBlocksMax: number;
  nowMs: number;
}): void {
  for (const { label, tip } of validators)
    if (tip !== undefined) chain.offer(label, tip.header, tip.seenAtMs);
  for (const validator of validators) {
    validator.standing = standingOf({ validator, chain, chainId, genesisHash, nowMs });
    if (isForged({ validator, chain, proof, nowMs })) {
      validator.standing = { kind: "forged", at: validator.tip?.header.number ?? 0n };
    }
  }
  for (const validator of validators) {
    if (isUnbelievable({ validator, validators, chain, jumpBlocksMax }))
      validator.standing = { kind: "unbelieved" };
    noteHeld(validator, chain);
    const { kind } = validator.standing;
    const isUnlinked = kind === "gap" || kind === "far";
    validator.unlinkedSinceMs = isUnlinked ? (validator.unlinkedSinceMs ?? nowMs) : undefined;
  }
}

function standingOf({
  validator,
  chain,
  chainId,
  genesisHash,
  nowMs,
}: {
  validator: TrackedValidator;
  chain: AnnouncedChain;
  chainId: bigint;
  genesisHash: string | undefined;
  nowMs: number;
}): Standing {
  if (validator.chainId === undefined || validator.tip === undefined) return { kind: "unknown" };
  if (validator.chainId !== chainId) return { kind: "foreign", why: `chain id ${validator.chainId}` };
  if (genesisHash === undefined) return { kind: "unknown" };
  if (validator.genesisHash !== genesisHash) {
    return { kind: "foreign", why: `genesis block ${validator.genesisHash}` };
  }
  const placement = chain.place(validator.label, validator.tip.header);
  if (placement.kind !== "far") {
    validator.far = undefined;
    return placement.kind === "nothing_announced" ? { kind: "ready" } : placement;
  }
  validator.far ??= { sinceMs: nowMs, sameAt: undefined, otherAt: undefined, also: undefined };
  if (validator.far.sameAt !== undefined) return { kind: "has" };
  return validator.far.otherAt === undefined ? placement : { kind: "diverged", at: validator.far.otherAt };
}

/** Its latest block is above the head, and its seals refute it. */
function isForged({
  validator: { label, standing, tip },
  chain,
  proof,
  nowMs,
}: {
  validator: TrackedValidator;
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

/** It is alone, more than `jumpBlocksMax` above the head and all others. */
function isUnbelievable({
  validator,
  validators,
  chain,
  jumpBlocksMax,
}: {
  validator: TrackedValidator;
  validators: readonly TrackedValidator[];
  chain: AnnouncedChain;
  jumpBlocksMax: number;
}): boolean {
  const { kind } = validator.standing;
  if (validator.tip === undefined || (kind !== "has" && kind !== "ready")) return false;
  let highest = chain.head()?.number ?? 0n;
  let others = 0;
  for (const other of validators) {
    if (
      other === validator ||
      other.isReplica ||
      !answers(other) ||
      !isOurs(other) ||
      other.tip === undefined
    )
      continue;
    others += 1;
    if (other.tip.header.number > highest) highest = other.tip.header.number;
  }
  return others > 0 && validator.tip.header.number - highest > BigInt(jumpBlocksMax);
}

function noteHeld(validator: TrackedValidator, chain: AnnouncedChain): void {
  const { kind } = validator.standing;
  const head = chain.head();
  if (kind === "has" && head !== undefined) {
    validator.reached = head.number;
    // A far validator is known to have the block that it was asked for, not the ones that were announced since.
    validator.holds = validator.far?.sameAt ?? head.number;
    // The lookup has helped: the next gap need not wait.
    validator.filledAtMs = undefined;
  } else if (kind !== "gap" && kind !== "far") validator.holds = -1n;
}
