import { type BlockHeader, sealHash, signerOf } from "./block-header.ts";
import { quorumOf } from "./quorum.ts";

/**
 * `proven`: a quorum of the header's validators sealed it, and they are known ones. `refuted`: no quorum did, so it is no
 * block of any IBFT chain. `unknown`: its validators are others than those that are known, or it names none.
 */
export type SealVerdict = "proven" | "refuted" | "unknown";

/** One vote at a time changes the validators, so nobody has many more than were known. */
const growthMax = 2;

/**
 * What a header's seals say of it, to one who knows the validators of a block below it. Where a vote has changed them
 * since, one honest validator of old has to be among the sealers: it seals for no false set. At most as many signatures
 * are recovered as the header has validators, and none that can change nothing.
 */
export function judgeSeals(header: BlockHeader, known: readonly string[]): SealVerdict {
  const { validators, seals } = header.extraData;
  const claimed = new Set(validators);
  if (claimed.size === 0 || claimed.size !== validators.length) return "unknown";
  if (claimed.size > growthMax * known.length) return "unknown";
  const quorum = quorumOf(claimed.size);
  const digest = sealHash(header);
  const sealers = new Set<string>();
  // No validator keeps two seals of one sealer; more than all are somebody's attempt to make us work.
  const looked = seals.slice(0, claimed.size);
  for (const [index, seal] of looked.entries()) {
    if (sealers.size === quorum || sealers.size + looked.length - index < quorum) break;
    const signer = signerOf(digest, seal);
    if (signer !== undefined && claimed.has(signer)) sealers.add(signer);
  }
  if (sealers.size < quorum) return "refuted";
  const knownSealers = known.filter((address) => sealers.has(address)).length;
  const faultyMax = Math.floor((known.length - 1) / 3);
  const isSameSet = known.length === claimed.size && known.every((address) => claimed.has(address));
  return isSameSet || knownSealers > faultyMax ? "proven" : "unknown";
}
