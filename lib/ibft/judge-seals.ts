import { type BlockHeader, sealHash, signerOf } from "./block-header.ts";
import { faultyMax, quorumOf } from "./quorum.ts";

/**
 * `proven`: a quorum of the header's validators sealed it, and they are known. `refuted`: no quorum sealed it, so it is not a
 * block of any IBFT chain. `unknown`: its validators are not the known ones, or it names none.
 */
export type SealVerdict = "proven" | "refuted" | "unknown";

/**
 * A header may name so many times the known validators: votes add them one at a time. Beyond it no seal is recovered, since
 * more names cost more time.
 */
const growthFactorMax = 2;

/**
 * What a header's seals prove, from the known validators of a block below it. If a vote has changed the validators since,
 * one of the sealers must be an honest validator of before, because it does not seal for a false set. At most as many
 * signatures are recovered as the header has validators, and only those that can change the result.
 */
export function judgeSeals(header: BlockHeader, known: readonly string[]): SealVerdict {
  const { validators, seals } = header.extraData;
  const claimed = new Set(validators);
  if (claimed.size === 0 || claimed.size !== validators.length) return "unknown";
  if (claimed.size > growthFactorMax * known.length) return "unknown";
  const quorum = quorumOf(claimed.size);
  const digest = sealHash(header);
  const sealers = new Set<string>();
  // No validator keeps two seals of one sealer. More seals than validators are an attempt to make us work.
  const looked = seals.slice(0, claimed.size);
  for (const [index, seal] of looked.entries()) {
    if (sealers.size === quorum || sealers.size + looked.length - index < quorum) break;
    const signer = signerOf(digest, seal);
    if (signer !== undefined && claimed.has(signer)) sealers.add(signer);
  }
  if (sealers.size < quorum) return "refuted";
  const knownSealers = known.filter((address) => sealers.has(address)).length;
  const isSameSet = known.length === claimed.size && known.every((address) => claimed.has(address));
  return isSameSet || knownSealers > faultyMax(known.length) ? "proven" : "unknown";
}
