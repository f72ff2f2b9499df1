import type { ValidatorVote, VoteTally } from "../../../lib/ibft/vote-tally.ts";

/** What a node was told to vote for: by address, true to add and false to remove. In memory only, as Besu has it. */
export type Proposals = {
  all(): Readonly<Record<string, boolean>>;
  propose(address: string, add: boolean): void;
  discard(address: string): void;
  /** The vote for the block that this node proposes next; undefined where none would change anything. */
  next(own: string, tally: VoteTally): ValidatorVote | undefined;
};

/**
 * Besu's VoteProposer: those votes take turns that the chain does not have yet. One that has passed stays, and is cast again as soon as it
 * would change something again, until it is discarded or the node ends.
 */
export function createProposals(): Proposals {
  const proposals = new Map<string, boolean>();
  let position = 0;
  return {
    all: () => Object.fromEntries(proposals),
    propose: (address, add) => void proposals.set(address.toLowerCase(), add),
    discard: (address) => void proposals.delete(address.toLowerCase()),
    next(own, tally) {
      const casts = [...proposals].filter(([recipient, add]) => isNotCastYet({ own, tally, recipient, add }));
      if (casts.length === 0) return undefined;
      position = (position + 1) % casts.length;
      const [recipient, add] = casts[position] ?? [];
      return recipient === undefined || add === undefined ? undefined : { proposer: own, recipient, add };
    },
  };
}

function isNotCastYet({
  own,
  tally,
  recipient,
  add,
}: {
  own: string;
  tally: VoteTally;
  recipient: string;
  add: boolean;
}): boolean {
  const isMember = tally.validators().includes(recipient);
  const hasVotedSo = tally.votersFor({ recipient, add }).has(own);
  const hasVotedAgainst = tally.votersFor({ recipient, add: !add }).has(own);
  return hasVotedAgainst || (isMember !== add && !hasVotedSo);
}
