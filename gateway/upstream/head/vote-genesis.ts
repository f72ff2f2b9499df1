import { answers, type TrackedValidator } from "./validator.ts";

/**
 * The genesis hash of a majority among the validators with the right chain id. At first it needs a majority of all
 * configured validators, after `genesisWaitMs` one of those that answer.
 */
export function voteGenesis({
  validators,
  chainId,
  waitedMs,
  genesisWaitMs,
}: {
  validators: readonly TrackedValidator[];
  chainId: bigint;
  waitedMs: number;
  genesisWaitMs: number;
}): string | undefined {
  const votes = new Map<string, number>();
  let voters = 0;
  for (const validator of validators) {
    if (!answers(validator) || validator.chainId !== chainId || validator.genesisHash === undefined) continue;
    voters += 1;
    votes.set(validator.genesisHash, (votes.get(validator.genesisHash) ?? 0) + 1);
  }
  const needed = waitedMs >= genesisWaitMs ? voters / 2 : validators.length / 2;
  for (const [hash, count] of votes) if (count > needed) return hash;
  return undefined;
}
