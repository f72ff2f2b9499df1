import t from "tap";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { createHeaderChain } from "../upstream/head/header-chain.ts";
import { startStubNode } from "../upstream/head/stub-node.ts";
import { startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

t.test("three workers follow the validators by one set of connections, and tell one head", async (t) => {
  const redis = await startRedis(t);
  const chain = createHeaderChain("ours");
  const nodes = [await startStubNode(t, { chain, height: 5 }), await startStubNode(t, { chain, height: 5 })];
  const workers = await startWorkers(t, {
    redisUrl: redis.url,
    upstream: nodes.map(({ url }) => url).join(","),
    workers: 3,
  });
  const numbers = async () =>
    new Set(
      await Promise.all(
        Array.from({ length: 30 }, async () =>
          Number((await workers.call({ method: "eth_blockNumber" })).result),
        ),
      ),
    );
  const allAt = (number: number) =>
    waitFor(`all are at ${number}`, async () => {
      const found = await numbers();
      return (found.size === 1 && found.has(number)) || undefined;
    });
  await allAt(5);
  for (let height = 6; height <= 8; height += 1) {
    for (const node of nodes) node.mine();
    await allAt(height);
  }
  for (const node of nodes) {
    t.equal(node.handshakes(), 1, "one WebSocket a machine");
    t.equal(node.subscriptions(), 1);
  }

  await t.test("a chain that begins anew is a new chain to all of them", async () => {
    const renewed = createHeaderChain("renewed");
    for (const node of nodes) node.become({ chain: renewed, height: 2 });
    await allAt(2);
  });
});
