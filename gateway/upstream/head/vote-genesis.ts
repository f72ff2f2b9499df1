import { answers, type Member } from "./validator.ts";

/**
 * The genesis hash that a majority agrees on, among the validators of the right chain id: of all configured at once, of
 * those that answer only after the others had `genesisWaitMs` to come.
 */
export function voteGenesis({
  members,
  chainId,
  waitedMs,
  genesisWaitMs,
}: {
  members: readonly Member[];
  chainId: bigint;
  waitedMs: number;
  genesisWaitMs: number;
}): string | undefined {
  const votes = new Map<string, number>();
  let voters = 0;
  for (const member of members) {
    if (!answers(member) || member.chainId !== chainId || member.genesisHash === undefined) continue;
    voters += 1;
    votes.set(member.genesisHash, (votes.get(member.genesisHash) ?? 0) + 1);
  }
  const needed = waitedMs >= genesisWaitMs ? voters / 2 : members.length / 2;
  for (const [hash, count] of votes) if (count > needed) return hash;
  return undefined;
}
