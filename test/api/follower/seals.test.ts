import { readFileSync } from "node:fs";
import { test } from "tap";
import { z } from "zod";
import { consensusOf, sealedConsensusOf } from "../../../api/follower/consensus-of.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import {
  type Sealing,
  sealedBlocks,
  sealers,
  shownWith,
  startScriptedNode,
} from "../../fakes/sealed-chain.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const vector = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));
const recorded = z
  .array(z.looseObject({ number: z.string(), extraData: z.string(), miner: z.string() }))
  .parse(vector("besu-blocks.json"));
const copies = z
  .array(z.record(z.string(), z.string()))
  .parse(vector("besu-extra-data-of-five.json"))
  .map(({ number, hash: _hash, ...shown }) => ({ number, shown: Object.values(shown) }));
const addressOf = (index: number) => sealers[index]?.address ?? "";
const bytea = (index: number) => `\\x${addressOf(index).slice(2)}`;

test("the recorded validators' copies of one block together name all who sealed it", async (t) => {
  for (const { number, shown } of copies) {
    const json = recorded.find((block) => block.number === number);
    const all = sealedConsensusOf({ json, copies: shown });
    t.equal(all.round, 0);
    t.ok(all.sealers.length >= 4);
    for (const extraData of shown) {
      const alone = sealedConsensusOf({ json: { ...json, extraData }, copies: [] });
      t.ok(alone.sealers.length >= 4 && alone.sealers.every((sealer) => all.sealers.includes(sealer)));
    }
  }
  t.equal(copies.length, 5);
});

test("a recorded round above 0 names whose turn was missed", async (t) => {
  const missed = recorded.map(consensusOf).filter(({ round }) => round === 1);
  t.ok(missed.length > 0);
  t.ok(missed.every(({ missed: [who] }) => who === "0x558a2f9b9d35545569c5b64fad7eaaa19e6298dc"));
});

const sealings: Sealing[] = [
  { proposer: 0, round: 0, sealedBy: [] },
  { proposer: 1, round: 0, sealedBy: [0, 1, 2, 3] },
  { proposer: 3, round: 1, sealedBy: [0, 1, 3, 4] },
  { proposer: 0, round: 2, sealedBy: [0, 1, 2, 4] },
];

test("seals are the union of what validators show; a made-up round or seal changes nothing", async (t) => {
  const blocks = sealedBlocks(sealings);
  const chain = blocks.map(({ json }) => json);
  const [node, honest, liar, away, postgresUrl] = await Promise.all([
    startScriptedNode(t, { blocks: chain }),
    startScriptedNode(t, { blocks: blocks.map((block) => shownWith(block, { sealedBy: [1, 2, 3, 4] })) }),
    startScriptedNode(t, {
      blocks: blocks.map((block) => ({ ...shownWith(block, { sealedBy: [0], round: 7 }) })),
    }),
    startScriptedNode(t, { blocks: [] }),
    createDatabase(t),
  ]);
  away.setDown(true);
  const validators = [honest, liar, away].map(({ url }) => {
    const client = createRpcClient({ url, timeoutMs: 2000 });
    t.teardown(() => client.stop());
    return client;
  });
  const follower = await startOwnFollower(t, { url: node.url, postgresUrl, validators });
  await follower.indexed(3);

  const { block, seal } = await readIndex(postgresUrl);
  t.match(block, [
    { round: 0, missed: [] },
    { round: 0, missed: [], proposer: bytea(1) },
    { round: 1, missed: [bytea(2)], proposer: bytea(3) },
    { round: 2, missed: [bytea(4), bytea(3)], proposer: bytea(0) },
  ]);
  const sealersOf = (number: number) =>
    seal.filter((row) => row["block"] === number).map((row) => row["validator"]);
  for (const number of [1, 2, 3]) t.same(sealersOf(number), [0, 1, 2, 3, 4].map(bytea));
});

test("blocks below the youngest have rounds and missed turns, but no seals", async (t) => {
  const chain = sealedBlocks(sealings).map(({ json }) => json);
  const [node, postgresUrl] = await Promise.all([startScriptedNode(t, { blocks: chain }), createDatabase(t)]);
  const follower = await startOwnFollower(t, { url: node.url, postgresUrl, sealedBlocksMax: 1 });
  await follower.indexed(3);
  const { block, seal } = await readIndex(postgresUrl);
  t.match(block[2], { round: 1, missed: [bytea(2)] });
  t.same([...new Set(seal.map((row) => row["block"]))], [3]);
});

test("on a chain of validators a node that is behind is waited for, in development too", async (t) => {
  const chain = sealedBlocks([...sealings, ...sealings.slice(1)]).map(({ json }) => json);
  const [node, postgresUrl] = await Promise.all([
    startScriptedNode(t, { blocks: chain.slice(0, 5) }),
    createDatabase(t),
  ]);
  const follower = await startOwnFollower(t, { url: node.url, postgresUrl, pollMs: 20 });
  await follower.indexed(4);
  let looks = 0;
  node.setChange(({ result }) => {
    looks += 1;
    return result;
  });
  node.setBlocks(chain.slice(0, 3));
  const { promise, resolve } = Promise.withResolvers<void>();
  follower.heads.onHead(({ number }) => number === 2 && resolve());
  await promise;
  const before = looks;
  while (looks < before + 20) await new Promise((done) => setImmediate(done));
  t.match(follower.standing(), { epoch: 1, next: 5, refused: undefined });

  node.setBlocks(chain);
  await follower.indexed(6);
  t.equal(follower.standing().epoch, 1);
});
