import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { createPendingTransactions } from "../../gateway/subscriptions/pending/pending-transactions.ts";
import { filterIndexKey } from "../../lib/redis/keys/gateway.ts";
import { createScriptedChain } from "../fakes/scripted-chain.ts";
import { createFilterGateways } from "../gateway/filters/filters-rig.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { connectTo, failOver, moveAround, startFailoverCluster } from "./failover-rig.ts";

const keyId = "k_core";

t.test(
  "filters are polled while their slot moves and their master is killed: no block twice, and none missing unless a poll was refused",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const chain = createScriptedChain();
    const gateways = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const redis = await connectTo(t, cluster.url);
        return createFilterGateways({ redis, pending: createPendingTransactions({ redis }) })(chain);
      }),
    );
    const mine = () => {
      const news = chain.add();
      for (const gateway of gateways) gateway.tell(news);
    };
    mine();
    const id = await gateways[0]?.call("eth_newBlockFilter", [], keyId);
    t.match(id, /^0x[0-9a-f]{32}$/);

    const told: unknown[] = [];
    /** How many blocks were told before a poll was refused: what that poll had found may be gone. */
    const refusedAt = new Set<number>();
    const otherAnswers: unknown[] = [];
    let isOver = false;
    const poll = async (turn: number) => {
      const answer = await gateways[turn % gateways.length]?.call("eth_getFilterChanges", [id], keyId);
      if (Array.isArray(answer)) told.push(...answer);
      else {
        otherAnswers.push(answer);
        refusedAt.add(told.length);
      }
    };
    const polling = (async () => {
      for (let turn = 0; !isOver; turn += 1) {
        mine();
        await poll(turn);
        await sleep(2);
      }
    })();

    await moveAround(cluster, filterIndexKey(keyId), 2);
    t.equal(refusedAt.size, 0, "a slot that moves is not noticed");
    await failOver(cluster, filterIndexKey(keyId));
    const before = told.length;
    await waitFor("told again", () => told.length > before + 20);
    isOver = true;
    await polling;
    mine();
    const last = chain.hashes().at(-1);
    for (let turn = 0; told.at(-1) !== last; turn += 1) await poll(turn);

    const outage = { refused: "service_unavailable" };
    t.ok(otherAnswers.length > 0, "some polls met the outage");
    t.match(otherAnswers, Array(otherAnswers.length).fill(outage), "and said so");
    const numbers = told.map((hash) => chain.hashes().indexOf(String(hash)));
    t.equal(new Set(numbers).size, numbers.length, "nothing twice");
    t.strictSame(
      numbers,
      numbers.toSorted((one, other) => one - other),
      "in order",
    );
    const gaps = numbers.flatMap((number, at) => (number === (numbers[at - 1] ?? 0) + 1 ? [] : [at]));
    for (const at of gaps) t.ok(refusedAt.has(at), `before block ${numbers[at]} a poll was refused`);
    t.ok(gaps.length <= gateways.length, `${gaps.length} polls lost their answer with the master`);
  },
);
