import type { Manifest } from "../../../genesis/manifest.ts";
import type { BlockHeader } from "../../../lib/ibft/block-header.ts";
import { createVoteTally, isEpochBlock, voteOf, votesNeeded } from "../../../lib/ibft/vote-tally.ts";
import { followBlocks, readHead, readHeaders } from "../chain/follow-blocks.ts";
import type { NetworkNode } from "../nodes.ts";
import type { VotePost } from "./vote-post.ts";

/** `passedAt`: the first block whose header has the new set. */
export type VoteResult = { passedAt: number } | { failed: string; interrupted?: true };

/**
 * A vote is cast in a block that its validator proposes. In as many blocks as there are validators each has had its turn; four times that has
 * room for missed turns, and for an epoch's end in between, after which all cast again.
 */
const turnsMax = 4;
/** Votes of before that are counted too: those of a run that ended in between. */
const lookBackBlocksMax = 200;

/**
 * Has every validator that is one of our nodes vote, and waits block by block until the set has changed. However it ends, the votes are taken
 * back: one that has passed would be cast again as soon as it would change something again.
 */
export async function castVotes({
  post,
  nodes,
  manifest,
  epochBlocks,
  recipient,
  name,
  add,
  stalledAfterMs,
  signal,
  note,
}: {
  post: VotePost;
  nodes: readonly NetworkNode[];
  manifest: Pick<Manifest, "validators">;
  epochBlocks: number;
  recipient: string;
  /** The recipient's. */
  name: string;
  add: boolean;
  /** Without a new block for so long the vote is given up. */
  stalledAfterMs: number;
  signal: AbortSignal;
  note: (text: string) => void;
}): Promise<VoteResult> {
  const head = await readHead(nodes);
  if (head === undefined) return { failed: "no validator answers" };
  const members = head.extraData.validators;
  if (members.includes(recipient) === add) return { passedAt: head.number };
  const needed = votesNeeded(members.length);
  const voters = nodes.filter(({ address }) => members.includes(address));
  const asked = await post.propose(voters, { recipient, add });
  if (asked.length < needed) {
    await takeBack();
    return {
      failed:
        `${needed} of ${members.length} validators have to vote, and only ${asked.length} of those that can be asked from here take a vote: ` +
        "bring the others back, or have their operators vote too",
    };
  }
  note(
    `${asked.length} validators were told to vote ${add ? "for" : "against"} ${name}; ${needed} of ${members.length} votes are needed.`,
  );
  const nameOf = (address: string) =>
    manifest.validators.find((node) => node.address === address)?.name ?? address;
  const blocksMax = turnsMax * (members.length + 1);
  const tally = await tallyUntil(head, { nodes, epochBlocks });
  let told = tally.votersFor({ recipient, add }).size;
  if (told > 0) note(`${told} of them are on the chain already.`);
  let epochAt: number | undefined;
  const followed = await followBlocks({
    nodes,
    from: head.number + 1,
    blocksMax,
    stalledAfterMs,
    signal,
    async look(header) {
      if (header.extraData.validators.includes(recipient) === add) return header.number;
      tally.count({ number: header.number, vote: voteOf(header) });
      // The vote that is the last one needed ends the count.
      const hasPassed = tally.validators().includes(recipient) === add;
      const count = hasPassed ? needed : tally.votersFor({ recipient, add }).size;
      if (count > told) note(`Block ${header.number}: ${nameOf(header.miner)} votes, ${count} of ${needed}.`);
      told = count;
      if (isEpochBlock(header.number + 1, epochBlocks)) {
        epochAt = header.number + 1;
        note(`Block ${epochAt} begins an epoch: the votes begin anew.`);
      }
      // Votes are in a node's memory. One that was restarted meanwhile is told again.
      if ((header.number - head.number) % members.length === 0)
        await post.propose(voters, { recipient, add });
      return undefined;
    },
  });
  await takeBack();
  if ("found" in followed) return { passedAt: followed.found };
  if (followed.ended === "interrupted") {
    return { failed: "it was interrupted; the votes are taken back", interrupted: true };
  }
  if (followed.ended === "stalled") {
    return {
      failed: `no block has come for ${Math.round(stalledAfterMs / 1000)} s; the votes are taken back. First bring the chain back: npm run network -- status`,
    };
  }
  const epoch = epochAt === undefined ? "" : `; votes began anew with block ${epochAt}`;
  return {
    failed: `the vote has not passed within ${blocksMax} blocks: ${told} of ${needed} votes${epoch}. The votes are taken back`,
  };

  /** At all nodes, also those that were no validators when it began. */
  async function takeBack(): Promise<void> {
    const left = await post.discard(nodes, recipient);
    if (left.length === 0) return;
    note(
      `${left.map((node) => node.name).join(", ")} could not be told to forget the vote. A restart forgets it, too.`,
    );
  }
}

/** The votes on the chain up to this block, as far back as is worth looking, and no further than the epoch. */
async function tallyUntil(
  head: BlockHeader,
  { nodes, epochBlocks }: { nodes: readonly NetworkNode[]; epochBlocks: number },
) {
  const epochStart = head.number - (head.number % epochBlocks);
  const first = Math.max(epochStart, head.number - lookBackBlocksMax, 1);
  let headers: readonly BlockHeader[] = [];
  for (const { rpcUrl } of nodes) {
    if (headers.at(-1)?.number !== head.number) headers = await readHeaders(rpcUrl, first, head.number);
  }
  const tally = createVoteTally({
    validators: headers[0]?.extraData.validators ?? head.extraData.validators,
    epochBlocks,
  });
  for (const header of headers) tally.count({ number: header.number, vote: voteOf(header) });
  return tally;
}
