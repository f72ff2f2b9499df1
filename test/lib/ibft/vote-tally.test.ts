import t from "tap";
import { decodeExtraData, encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { downMax, faultyMax, quorumOf } from "../../../lib/ibft/quorum.ts";
import { createVoteTally, voteOf, votesNeeded, writeVote } from "../../../lib/ibft/vote-tally.ts";

const address = (digit: string) => `0x${digit.repeat(40)}`;
const a = address("a");
const b = address("b");
const c = address("c");
const d = address("d");
const e = address("e");
const x = address("f");
const five = [a, b, c, d, e];

/** A tally over blocks with these votes, from block 1 on. */
function after(
  votes: readonly (readonly [proposer: string, recipient: string, add: boolean] | undefined)[],
  { validators = five, epochBlocks = 1000 }: { validators?: readonly string[]; epochBlocks?: number } = {},
) {
  const tally = createVoteTally({ validators, epochBlocks });
  for (const [index, vote] of votes.entries()) {
    const [proposer = "", recipient = "", add = true] = vote ?? [];
    tally.count({ number: index + 1, vote: vote === undefined ? undefined : { proposer, recipient, add } });
  }
  return tally;
}

t.test("more than half have to vote, and the set is in ascending order", async (t) => {
  t.same([1, 2, 3, 4, 5, 6, 7].map(votesNeeded), [1, 2, 2, 3, 3, 4, 4]);
  t.same(after([[a, x, true], undefined, [c, x, true]]).validators(), five);
  t.same(
    after([
      [a, x, true],
      [b, x, true],
      [c, x, true],
    ]).validators(),
    [...five, x],
  );
  t.same(
    after([
      [c, a, false],
      [b, a, false],
      [a, a, false],
    ]).validators(),
    [b, c, d, e],
  );
});

t.test("one proposer has one vote for each recipient, and the last one counts", async (t) => {
  const twice = after([
    [a, x, true],
    [a, x, true],
    [b, x, true],
  ]);
  t.same(twice.validators(), five);
  t.same([...twice.votersFor({ recipient: x, add: true })], [a, b]);
  const changed = after([
    [a, x, true],
    [b, x, true],
    [a, x, false],
    [c, x, true],
  ]);
  t.same(changed.validators(), five);
  t.same([...changed.votersFor({ recipient: x, add: true })], [b, c]);
});

t.test("votes that have passed are gone, and so are those of one that was voted out", async (t) => {
  const passed = after([
    [a, x, true],
    [b, x, true],
    [c, x, true],
  ]);
  t.equal(passed.votersFor({ recipient: x, add: true }).size, 0);
  const withoutA = after([
    [a, x, true],
    [b, a, false],
    [c, a, false],
    [d, a, false],
    [b, x, true],
  ]);
  t.same([...withoutA.votersFor({ recipient: x, add: true })], [b], "the vote of a is gone with it");
});

t.test("the last block of an epoch has no vote that counts, and ends all others", async (t) => {
  // Block 3 is the last before epoch block 4.
  const before = after(
    [
      [a, x, true],
      [b, x, true],
      [c, x, true],
    ],
    { epochBlocks: 4 },
  );
  t.same(before.validators(), five);
  t.equal(before.votersFor({ recipient: x, add: true }).size, 0);
  const votes = [undefined, undefined, undefined, [a, x, true], [b, x, true], [c, x, true]] as const;
  t.same(after(votes, { epochBlocks: 4 }).validators(), [...five, x], "the epoch's own block counts");
});

t.test("a vote is read from extraData as each consensus writes it", async (t) => {
  for (const consensus of ["ibft2", "qbft"] as const) {
    for (const add of [true, false]) {
      const text = encodeExtraData({
        ...{ consensus, vanity: `0x${"00".repeat(32)}`, validators: five, round: 0, seals: [] },
        vote: writeVote({ recipient: x, add }, consensus),
      });
      const decoded = decodeExtraData(text);
      if ("problem" in decoded) throw new Error(decoded.problem);
      t.same(voteOf({ miner: a, extraData: decoded.extraData }), { proposer: a, recipient: x, add });
    }
  }
  t.equal(voteOf({ miner: a, extraData: { vote: undefined } }), undefined);
  t.equal(
    voteOf({ miner: a, extraData: { vote: [x, "0x07"] } }),
    undefined,
    "a type that Besu does not know",
  );
});

t.test("what a number of validators can bear", async (t) => {
  const rows = [1, 2, 3, 4, 5, 6, 7].map((many) => [many, quorumOf(many), downMax(many), faultyMax(many)]);
  t.same(rows, [
    [1, 1, 0, 0],
    [2, 2, 0, 0],
    [3, 2, 1, 0],
    [4, 3, 1, 1],
    [5, 4, 1, 1],
    [6, 4, 2, 1],
    [7, 5, 2, 2],
  ]);
});
