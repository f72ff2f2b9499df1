import type { ExtraData } from "./extra-data.ts";

/** A vote as a header has it: its proposer wants `recipient` among the validators, or out of them. */
export type ValidatorVote = { proposer: string; recipient: string; add: boolean };

export type VoteTally = {
  /** Ascending: who makes the block after the last one that was counted. */
  validators(): readonly string[];
  /** Who has voted for this in the epoch, and still is a validator. */
  votersFor(vote: Pick<ValidatorVote, "recipient" | "add">): ReadonlySet<string>;
  /** Counts a block's vote. Blocks are given in order. */
  count(block: { number: number; vote: ValidatorVote | undefined }): void;
};

const addType = "0xff";
/** IBFT 2.0 writes the byte 0, QBFT no byte at all (Vote and QbftExtraDataCodec in Besu). */
const dropTypes: readonly string[] = ["0x00", "0x"];

/** More than half of the validators have to vote: https://besu.hyperledger.org/private-networks/how-to/configure/consensus/ibft#add-and-remove-validators */
export function votesNeeded(validators: number): number {
  return Math.floor(validators / 2) + 1;
}

/** The vote that a header carries; undefined where it has none, or one of a type that Besu does not know. */
export function voteOf({
  miner,
  extraData,
}: {
  miner: string;
  extraData: Pick<ExtraData, "vote">;
}): ValidatorVote | undefined {
  const [recipient, type] = extraData.vote ?? [];
  if (recipient === undefined || type === undefined) return undefined;
  if (type !== addType && !dropTypes.includes(type)) return undefined;
  return { proposer: miner, recipient, add: type === addType };
}

/** How `extraData` writes a vote. */
export function writeVote(
  { recipient, add }: Pick<ValidatorVote, "recipient" | "add">,
  consensus: ExtraData["consensus"],
): [string, string] {
  return [recipient, add ? addType : consensus === "ibft2" ? "0x00" : "0x"];
}

/** Whether votes begin anew with this block: its header says who the validators are, and no vote of before counts. */
export function isEpochBlock(number: number, epochBlocks: number): boolean {
  return number % epochBlocks === 0;
}

/**
 * Counts votes as Besu does (VoteTally, VoteTallyUpdater, VoteTallyCache): one of each proposer for each recipient, the last one counts;
 * the vote that makes more than half changes the set from the next block on. The last block of an epoch has no vote that
 * counts, and ends all others.
 */
export function createVoteTally({
  validators,
  epochBlocks,
}: {
  /** Of the header with which counting begins, before its own vote. */
  validators: readonly string[];
  epochBlocks: number;
}): VoteTally {
  const members = new Set(validators);
  const adds = new Map<string, Set<string>>();
  const drops = new Map<string, Set<string>>();
  const votersOf = (votes: Map<string, Set<string>>, recipient: string) => {
    const voters = votes.get(recipient) ?? new Set<string>();
    votes.set(recipient, voters);
    return voters;
  };

  function forget(recipient: string): void {
    adds.delete(recipient);
    drops.delete(recipient);
  }

  function take({ proposer, recipient, add }: ValidatorVote): void {
    const [forIt, against] = add ? [adds, drops] : [drops, adds];
    votersOf(forIt, recipient).add(proposer);
    votersOf(against, recipient).delete(proposer);
    const needed = votesNeeded(members.size);
    if (votersOf(adds, recipient).size >= needed) {
      members.add(recipient);
      forget(recipient);
    }
    if (votersOf(drops, recipient).size >= needed) {
      members.delete(recipient);
      forget(recipient);
      // Who is no validator any more has no vote either.
      for (const voters of [...adds.values(), ...drops.values()]) voters.delete(recipient);
    }
  }

  return {
    validators: () => [...members].sort(),
    votersFor: ({ recipient, add }) => new Set((add ? adds : drops).get(recipient)),
    count({ number, vote }) {
      if (isEpochBlock(number + 1, epochBlocks)) {
        adds.clear();
        drops.clear();
      } else if (vote !== undefined) take(vote);
    },
  };
}
