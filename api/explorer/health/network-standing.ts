import type { RecentBlock } from "../../read/recent-blocks.ts";
import type { ValidatorHead } from "../../read/validator-heads.ts";

/** How near a network is to standing still. */
export type NetworkStanding = {
  members: number;
  /** Those that sealed or proposed one of the newest blocks. */
  alive: readonly string[];
  /** How many take part, as far as is known. */
  present: number;
  /** How many more may fail; below 0 no block can be made. */
  spare: number;
};

/** Two turns of each: who takes part has proposed or sealed by then, as `npm run network -- status` has it. */
const turnsLooked = 2;
/** One that is further behind is catching up and takes no part. */
const lagMax = 3;

/**
 * Judges by the newest blocks, and by what the validators that can be asked say now: while the chain stands still, its
 * blocks tell of the past alone.
 */
export function standingOf({
  validators,
  quorum,
  blocks,
  heads,
}: {
  validators: readonly string[];
  quorum: number;
  /** Oldest first. */
  blocks: readonly RecentBlock[];
  heads: readonly ValidatorHead[];
}): NetworkStanding {
  const newest = blocks.slice(-turnsLooked * validators.length);
  const isKnown = newest.length === turnsLooked * validators.length;
  const takesPart = (address: string) =>
    newest.some(({ proposer, sealedBy }) => proposer === address || sealedBy.includes(address));
  const alive = isKnown ? validators.filter(takesPart) : validators;
  const highest = Math.max(0, ...heads.map((head) => (head.state === "up" ? head.height : 0)));
  const away = heads.filter((head) => head.state !== "up" || highest - head.height > lagMax).length;
  const members = validators.length;
  const present = Math.min(alive.length, members - Math.min(members, away));
  return { members, alive, present, spare: present - quorum };
}
