import { getAddress } from "ethers/address";
import t from "tap";
import { z } from "zod";
import { blockRecord, consensusRecord, rankingRecord, validatorsRecord } from "../../../api/records/block.ts";
import { chainRecord } from "../../../api/records/chain.ts";
import {
  fifthIsAway,
  sealedBlocks,
  sealers,
  shownWith,
  sized,
  startScriptedNode,
  type Told,
} from "../../fakes/sealed-chain.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";

const addressOf = (index: number) => getAddress(String(sealers[index]?.address));
const all = sealers.map(({ address }) => getAddress(address));
const blocks = sealedBlocks(fifthIsAway(9));
const newest = blocks.length - 1;

const asFirst = blocks.map(({ json }) => sized(json));
const asOther = blocks.map((block, number) =>
  number === 0 ? sized(block.json) : sized(shownWith(block, { sealedBy: [0, 1, 2, 3, 4] })),
);
const answering =
  (told: readonly Readonly<Record<string, unknown>>[]) =>
  ({ method, params: [first], result }: Told) => {
    if (method === "eth_gasPrice") return "0x7";
    if (method === "eth_getBlockByHash") return told.find(({ hash }) => hash === first);
    return result;
  };

const redis = await startRedis(t);
/** Two replicas that ask two validators, of which each keeps other seals. */
async function startReplica(told: Record<string, unknown>[], now = () => 1_700_000_000_000) {
  const [node, postgresUrl] = await Promise.all([
    startScriptedNode(t, { blocks: told, change: answering(told) }),
    createDatabase(t),
  ]);
  const api = await startApi(t, { redisUrl: redis.url, postgresUrl, upstream: node.url, now });
  await waitFor("the index has all blocks", async () =>
    (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${newest}`),
  );
  return { api, node };
}
const [{ api }, { api: other }] = await Promise.all([startReplica(asFirst), startReplica(asOther)]);

t.test(
  "two replicas give a block the same bytes for ever, whichever seals their validators keep",
  async (t) => {
    t.not(asFirst[1]?.["size"], asOther[1]?.["size"], "validators tell different sizes");
    const paths = blocks.flatMap(({ json: { hash } }, number) => [
      `/api/v1/blocks/${number}`,
      `/api/v1/blocks/hash/${hash}`,
    ]);
    for (const path of paths) {
      const answers = await Promise.all([api.get(path), other.get(path)]);
      const [one, two] = answers;
      t.equal(one.status, 200, path);
      t.equal(one.text, two.text, path);
      t.equal(one.headers.get("etag"), two.headers.get("etag"), path);
      for (const { headers } of answers)
        t.equal(headers.get("cache-control"), "public, max-age=31536000, immutable", path);
      blockRecord.parse(one.json);
    }
    t.same(
      z.object({ data: z.unknown() }).parse((await api.get("/api/v1/blocks")).json).data,
      z.object({ data: z.unknown() }).parse((await other.get("/api/v1/blocks")).json).data,
      "and so have their lists",
    );
    const rest = await api.get("/api/v1/blocks/latest");
    t.equal(rest.headers.get("cache-control"), "public, max-age=1, stale-while-revalidate=2");
  },
);

t.test("many clients at once get the same bytes from both replicas", async (t) => {
  const seen = new Map<string, Set<string>>();
  await Promise.all(
    Array.from({ length: 50 }, async (_, client) => {
      const replica = client % 2 === 0 ? api : other;
      for (let step = 0; step < 20; step += 1) {
        const path = `/api/v1/blocks/${(client * 7 + step) % (newest + 1)}`;
        const { text, headers } = await replica.get(path);
        const known = seen.get(path) ?? new Set();
        seen.set(path, known.add(`${headers.get("etag")} ${text}`));
      }
    }),
  );
  t.equal(seen.size, newest + 1);
  for (const [path, texts] of seen) t.equal(texts.size, 1, path);
});

t.test("who sealed a block, whose turn passed, and who is missing", async (t) => {
  const consensus = async (number: number) =>
    consensusRecord.parse((await api.get(`/api/v1/blocks/${number}/consensus`)).json);
  t.same(await consensus(5), {
    blockNumber: 5,
    round: 1,
    sealedBy: [0, 1, 2, 3].map(addressOf),
    notSealed: [addressOf(4)],
    missedTurns: [addressOf(4)],
    validators: all,
    quorum: 4,
  });
  t.match(await consensus(1), { round: 0, missedTurns: [] });
  t.match(await consensus(0), { round: null, sealedBy: [], notSealed: [], validators: all });
  t.equal((await api.get("/api/v1/blocks/1/consensus")).headers.get("cache-control"), "public, max-age=2");
  t.equal((await api.get(`/api/v1/blocks/${newest + 1}/consensus`)).status, 404);
});

t.test("validators and their ranking, by the formula that the answer tells", async (t) => {
  const { data, note } = validatorsRecord.parse((await api.get("/api/v1/validators")).json);
  t.equal(note, null);
  t.same(
    data.map(({ address }) => address),
    all,
  );
  const ranking = rankingRecord.parse((await api.get("/api/v1/validators/ranking")).json);
  t.match(ranking, { windowBlocks: 1000, fromBlock: 1, toBlock: newest, note: null });
  t.match(ranking.formula, /0\.8 × proposed \/ turns \+ 0\.2 × sealed \/ sealable/);
  t.same(
    ranking.data.map(({ rank, score, address, turns }) => ({ rank, score, address, turns })),
    [
      { rank: 1, score: 1000, address: addressOf(0), turns: 3 },
      { rank: 1, score: 1000, address: addressOf(1), turns: 2 },
      { rank: 1, score: 1000, address: addressOf(2), turns: 2 },
      { rank: 1, score: 1000, address: addressOf(3), turns: 1 },
      { rank: 5, score: 0, address: addressOf(4), turns: 1 },
    ],
  );
  const fifth = await api.get(`/api/v1/validators/${addressOf(4)}`);
  t.match(fifth.json, {
    ...{ active: true, proposed: 0, turns: 1, missedTurns: 1, sealed: 0, sealable: newest },
    lastProposedBlock: null,
  });
  t.equal((await api.get(`/api/v1/validators/0x${"12".repeat(20)}`)).status, 404);
});

t.test("the chain's record says who runs it, and by the clock whether it is stalled", async (t) => {
  const record = chainRecord.parse((await api.get("/api/v1/chain")).json);
  t.match(record, {
    ...{ consensus: "ibft2", validatorCount: 5, quorum: 4, blockNumber: newest, epoch: 1, gasPrice: "7" },
    ...{ genesisHash: blocks[0]?.json["hash"], averageBlockTimeSeconds: 2, stalled: false },
  });
  const clock = { ms: 1_700_000_000_000 };
  const { api: watched } = await startReplica(asFirst, () => clock.ms);
  t.match((await watched.get("/api/v1/chain")).json, { stalled: false });
  clock.ms += 60_000;
  await waitFor("it is told as stalled while no block comes", async () =>
    (await watched.get("/api/v1/chain")).text.includes('"stalled":true'),
  );
});
