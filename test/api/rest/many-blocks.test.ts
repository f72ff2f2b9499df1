import t from "tap";
import { encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { sealedBlocks, sized, startScriptedNode } from "../../fakes/sealed-chain.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";

const blockCount = process.env["CI"] === undefined ? 1000 : 10_000;
const clients = 50;
/** Not a signature of anybody: seals are no part of a block's hash, and validators keep different ones. */
const madeUpSeal = `0x${"11".repeat(65)}`;

t.test("fifty clients get the same bytes of thousands of blocks from two replicas", async (t) => {
  const blocks = sealedBlocks(
    Array.from({ length: blockCount }, (_, number) => ({ proposer: number % 5, round: 0, sealedBy: [] })),
  );
  const shown = blocks.map(({ json }) => sized(json));
  // Nobody seals the genesis block.
  const withSeals = blocks.map(({ json, extraData }, number) =>
    sized({
      ...json,
      extraData: encodeExtraData({ ...extraData, seals: number === 0 ? [] : [madeUpSeal] }),
    }),
  );
  const redis = await startRedis(t);
  const startReplica = async (told: Record<string, unknown>[]) => {
    const [node, postgresUrl] = await Promise.all([
      startScriptedNode(t, {
        blocks: told,
        // Single blocks come from the chain: the index is not what is tried here, and reads no range of this node.
        change: ({ method, result }) => (method === "eth_getBlockReceipts" ? null : result),
      }),
      createDatabase(t),
    ]);
    const api = await startApi(t, { redisUrl: redis.url, postgresUrl, upstream: node.url });
    await waitFor("it knows that its chain is no development chain", async () =>
      (await api.get("/api/v1/blocks/0")).headers.get("cache-control")?.includes("immutable"),
    );
    return api;
  };
  const replicas = await Promise.all([startReplica(shown), startReplica(withSeals)]);

  const different: string[] = [];
  let compared = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let number = client; number < blockCount; number += clients) {
        const path = `/api/v1/blocks/${number}`;
        const [one, other] = await Promise.all(replicas.map((replica) => replica.get(path)));
        const isSame =
          one !== undefined &&
          other !== undefined &&
          one.status === 200 &&
          one.text === other.text &&
          one.headers.get("etag") === other.headers.get("etag") &&
          one.headers.get("cache-control") === "public, max-age=31536000, immutable" &&
          other.headers.get("cache-control") === "public, max-age=31536000, immutable";
        if (!isSame) different.push(path);
        compared += 1;
      }
    }),
  );
  t.equal(compared, blockCount);
  t.same(different, []);
});
