import t from "tap";
import { createPendingTransactions } from "../../../gateway/subscriptions/pending/pending-transactions.ts";
import { addressOf, createScriptedChain, type ScriptedLog, topicOf } from "../../fakes/scripted-chain.ts";
import { connectAdmin, findKeys, flushAll, startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { createFilterGateways } from "./filters-rig.ts";

const [tokenA, tokenB] = [addressOf("a"), addressOf("b")];
const [transfer, approval] = [topicOf("transfer"), topicOf("approval")];

t.test("filters", async (t) => {
  const server = await startRedis(t);
  const redis = await connectAdmin(t, server.url);
  t.beforeEach(async () => {
    await flushAll(redis);
  });
  const pending = createPendingTransactions({ redis });

  const gatewayOver = createFilterGateways({ redis, pending });

  t.test("a block filter gives each block once, through whichever gateway it is polled", async (t) => {
    const chain = createScriptedChain();
    const gateways = [gatewayOver(chain), gatewayOver(chain)] as const;
    const mine = () => {
      const news = chain.add();
      for (const gateway of gateways) gateway.tell(news);
    };
    mine();
    const id = await gateways[0].call("eth_newBlockFilter");
    t.match(id, /^0x[0-9a-f]{32}$/);
    t.same(await gateways[1].call("eth_getFilterChanges", [id]), []);
    for (let mined = 0; mined < 3; mined += 1) mine();
    t.same(await gateways[1].call("eth_getFilterChanges", [id]), chain.hashes().slice(1));
    t.same(await gateways[0].call("eth_getFilterChanges", [id]), []);
    mine();
    t.same(await gateways[0].call("eth_getFilterChanges", [id]), chain.hashes().slice(4));
    t.same([...gateways[0].asked, ...gateways[1].asked], [], "no validator was asked");
  });

  t.test("a poll whose logs find no room is refused, and gives them the next time", async (t) => {
    const chain = createScriptedChain();
    const small = gatewayOver(chain, { keyBytesMax: 20_000 });
    const mine = (logs: ScriptedLog[] = []) => small.tell(chain.add(logs));
    mine();
    const id = await small.call("eth_newFilter", [{ address: tokenA }]);
    mine(Array.from({ length: 100 }, () => ({ address: tokenA, topics: [transfer] })));
    t.match(await small.call("eth_getFilterChanges", [id]), { refused: "rate_limited" });
    const roomy = gatewayOver(chain);
    mine();
    for (const news of chain.all()) roomy.tell(news);
    t.match(await roomy.call("eth_getFilterChanges", [id]), { length: 100 });
    t.same(await roomy.call("eth_getFilterChanges", [id]), []);
  });

  t.test("a log filter gives those that match; where none can match no validator is asked", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain);
    gateway.tell(chain.add());
    const id = await gateway.call("eth_newFilter", [{ address: tokenA, topics: [[transfer, approval]] }]);
    gateway.tell(chain.add([{ address: tokenB, topics: [transfer] }]));
    t.same(await gateway.call("eth_getFilterChanges", [id]), []);
    t.same(gateway.asked, []);
    gateway.tell(
      chain.add([
        { address: tokenB, topics: [transfer] },
        { address: tokenA, topics: [transfer] },
      ]),
    );
    gateway.tell(chain.add([{ address: tokenA, topics: [approval, transfer] }]));
    t.match(await gateway.call("eth_getFilterChanges", [id]), [
      { blockNumber: "0x2", logIndex: "0x1", address: tokenA },
      { blockNumber: "0x3", logIndex: "0x0" },
    ]);
    t.same(gateway.asked, ["eth_getLogs"], "one question for all blocks");
    t.same(await gateway.call("eth_getFilterChanges", [id]), []);
  });

  t.test("fromBlock and toBlock bound what a filter gives", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain);
    const log = { address: tokenA, topics: [] };
    gateway.tell(chain.add());
    const id = await gateway.call("eth_newFilter", [{ fromBlock: "0x2", toBlock: "0x3" }]);
    for (let mined = 0; mined < 4; mined += 1) gateway.tell(chain.add([log]));
    t.match(await gateway.call("eth_getFilterChanges", [id]), [
      { blockNumber: "0x2" },
      { blockNumber: "0x3" },
    ]);
    gateway.tell(chain.add([log]));
    t.same(await gateway.call("eth_getFilterChanges", [id]), []);
  });

  t.test("polls at once, through two gateways, repeat and leave out nothing", async (t) => {
    const chain = createScriptedChain();
    const gateways = [gatewayOver(chain), gatewayOver(chain)] as const;
    const mine = () => {
      const news = chain.add();
      for (const gateway of gateways) gateway.tell(news);
    };
    mine();
    const id = await gateways[0].call("eth_newBlockFilter");
    const told: unknown[] = [];
    for (let round = 0; round < 20; round += 1) {
      mine();
      const polls = Array.from({ length: 6 }, (_, index) =>
        gateways[index % 2 === 0 ? 0 : 1].call("eth_getFilterChanges", [id]),
      );
      for (const result of await Promise.all(polls))
        told.push(...(Array.isArray(result) ? result : [result]));
    }
    t.same(told, chain.hashes().slice(1));
  });

  t.test("a gateway that is behind gives nothing new and moves no cursor", async (t) => {
    const chain = createScriptedChain();
    const [ahead, behind] = [gatewayOver(chain), gatewayOver(chain)];
    const first = chain.add();
    ahead.tell(first);
    behind.tell(first);
    const id = await ahead.call("eth_newBlockFilter");
    const second = chain.add();
    ahead.tell(second);
    t.same(await ahead.call("eth_getFilterChanges", [id]), [second.hash]);
    t.same(await behind.call("eth_getFilterChanges", [id]), []);
    behind.tell(second);
    t.same(await behind.call("eth_getFilterChanges", [id]), []);
    const third = chain.add();
    behind.tell(third);
    t.same(await behind.call("eth_getFilterChanges", [id]), [third.hash]);
  });

  t.test("one that was started since asks for the blocks that it did not see", async (t) => {
    const chain = createScriptedChain();
    const old = gatewayOver(chain);
    old.tell(chain.add());
    const id = await old.call("eth_newBlockFilter");
    chain.add();
    chain.add();
    const fresh = gatewayOver(chain);
    fresh.tell(chain.add());
    t.same(await fresh.call("eth_getFilterChanges", [id]), chain.hashes().slice(1));
    t.same(fresh.asked, Array(3).fill("eth_getBlockByNumber"));
  });

  t.test("one poll looks at so many blocks at most, the next goes on", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain, { blocksPerPollMax: 2 });
    gateway.tell(chain.add());
    const id = await gateway.call("eth_newBlockFilter");
    for (let mined = 0; mined < 5; mined += 1) gateway.tell(chain.add());
    const [, ...hashes] = chain.hashes();
    t.same(await gateway.call("eth_getFilterChanges", [id]), hashes.slice(0, 2));
    t.same(await gateway.call("eth_getFilterChanges", [id]), hashes.slice(2, 4));
    t.same(await gateway.call("eth_getFilterChanges", [id]), hashes.slice(4));
  });

  t.test("a chain that began anew ends its filters: not found", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain);
    for (let mined = 0; mined < 5; mined += 1) gateway.tell(chain.add());
    const [low, high] = [await gateway.call("eth_newBlockFilter"), await gateway.call("eth_newFilter", [{}])];
    chain.revert(1);
    gateway.beginEpoch();
    t.match(await gateway.call("eth_getFilterChanges", [low]), { refused: "upstream_unavailable" });
    gateway.tell(chain.add());
    t.match(
      await gateway.call("eth_getFilterChanges", [low]),
      { refused: "filter_not_found" },
      "above the new head",
    );
    for (let mined = 0; mined < 5; mined += 1) gateway.tell(chain.add());
    t.match(await gateway.call("eth_getFilterChanges", [high]), { refused: "filter_not_found" }, "below it");
    const fresh = await gateway.call("eth_newBlockFilter");
    gateway.tell(chain.add());
    t.same(await gateway.call("eth_getFilterChanges", [fresh]), chain.hashes().slice(-1));
  });

  t.test("where no validator answers, no cursor is moved", async (t) => {
    const chain = createScriptedChain();
    const { ask } = chain;
    let answers = true;
    chain.ask = async (method, params) => (answers ? ask(method, params) : undefined);
    const gateway = gatewayOver(chain);
    gateway.tell(chain.add());
    const id = await gateway.call("eth_newFilter", [{}]);
    gateway.tell(chain.add([{ address: tokenA, topics: [] }]));
    answers = false;
    t.match(await gateway.call("eth_getFilterChanges", [id]), { refused: "upstream_unavailable" });
    answers = true;
    t.match(await gateway.call("eth_getFilterChanges", [id]), [{ blockNumber: "0x1" }]);
  });

  t.test("another key does not find it; ids of any other form are found by nobody", async (t) => {
    const gateway = gatewayOver(createScriptedChain());
    gateway.tell(createScriptedChain().add());
    const id = await gateway.call("eth_newBlockFilter");
    for (const method of ["eth_getFilterChanges", "eth_getFilterLogs"]) {
      t.match(await gateway.call(method, [id], "k_other"), {
        refused: "filter_not_found",
        message: "Filter not found",
      });
      t.match(await gateway.call(method, ["index"]), { refused: "filter_not_found" });
      t.match(await gateway.call(method, [1]), { refused: "invalid_params" });
    }
    t.equal(await gateway.call("eth_uninstallFilter", [id], "k_other"), false);
    t.equal(await gateway.call("eth_uninstallFilter", [id]), true);
    t.equal(await gateway.call("eth_uninstallFilter", [id]), false);
    t.match(await gateway.call("eth_getFilterChanges", [id]), { refused: "filter_not_found" });
  });

  t.test("a key has so many filters at most; one that ends makes room", async (t) => {
    const gateway = gatewayOver(createScriptedChain());
    gateway.tell(createScriptedChain().add());
    const ids = [];
    for (let made = 0; made < 3; made += 1) ids.push(await gateway.call("eth_newBlockFilter"));
    t.match(await gateway.call("eth_newFilter", [{}]), { refused: "rate_limited", message: /uninstall/ });
    t.type(await gateway.call("eth_newBlockFilter", [], "k_other"), "string");
    await gateway.call("eth_uninstallFilter", [ids[0]]);
    t.type(await gateway.call("eth_newFilter", [{}]), "string");
  });

  t.test(
    "what a key's filters hold in Redis is bounded, to the byte; one that ends makes room",
    async (t) => {
      const gateway = gatewayOver(createScriptedChain(), { filtersPerKeyMax: 100 });
      gateway.tell(createScriptedChain().add());
      const [frame, topic] = [JSON.stringify({ topics: [[]] }).length, topicOf("any").length + 3];
      const withTopics = (count: number, name: string) => ({
        topics: [Array.from({ length: count }, (_, index) => topicOf(`${name} ${index}`))],
      });
      const bytesOf = (count: number) => frame + count * topic - 1;
      t.equal(JSON.stringify(withTopics(70, "a")).length, bytesOf(70));
      const made = [];
      for (const name of ["a", "b"]) made.push(await gateway.call("eth_newFilter", [withTopics(70, name)]));
      const left = 10_000 - 2 * bytesOf(70);
      const fits = Math.floor((left - frame + 1) / topic);
      const tooLarge = {
        refused: "rate_limited",
        message: /at most 10000 bytes/,
        data: { bytesPerKeyMax: 10_000 },
      };
      t.match(await gateway.call("eth_newFilter", [withTopics(fits + 1, "c")]), tooLarge);
      t.type(await gateway.call("eth_newFilter", [withTopics(fits + 1, "c")], "k_other"), "string");
      t.type(await gateway.call("eth_newFilter", [withTopics(fits, "c")]), "string");
      t.match(await gateway.call("eth_newFilter", [withTopics(2, "d")]), tooLarge);
      t.type(await gateway.call("eth_newBlockFilter"), "string", "which holds nothing");

      t.same(await gateway.call("eth_getFilterChanges", [made[0]]), [], "a use counts it no second time");
      t.match(await gateway.call("eth_newFilter", [withTopics(2, "d")]), tooLarge);
      t.equal(await gateway.call("eth_uninstallFilter", [made[0]]), true);
      t.type(await gateway.call("eth_newFilter", [withTopics(70, "d")]), "string");
      t.match(await gateway.call("eth_newFilter", [withTopics(2, "e")]), tooLarge);
    },
  );

  t.test("it ends when it was not used for long enough, counted from its last use", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain, { idleMsMax: 600 });
    gateway.tell(chain.add());
    const ids = [];
    for (let made = 0; made < 3; made += 1) ids.push(await gateway.call("eth_newBlockFilter"));
    for (let used = 0; used < 4; used += 1) {
      // Used four times over a second, each time before its 600 ms are over: Redis counts them by its own clock.
      await new Promise((resolve) => setTimeout(resolve, 250));
      t.same(await gateway.call("eth_getFilterChanges", [ids[0]]), []);
    }
    t.match(await gateway.call("eth_getFilterChanges", [ids[1]]), { refused: "filter_not_found" });
    t.type(await gateway.call("eth_newBlockFilter"), "string", "those that ended are not counted");
    await waitFor("nothing is left in Redis", async () => (await findKeys(redis, "{filters:*")).length === 0);
  });

  t.test("bad criteria are refused in words", async (t) => {
    const gateway = gatewayOver(createScriptedChain());
    gateway.tell(createScriptedChain().add());
    for (const [criteria, message] of [
      [undefined, /filter object/],
      [[], /filter object/],
      [{ address: "0x12" }, /address/],
      [{ address: [tokenA, 5] }, /address/],
      [{ topics: transfer }, /topics/],
      [{ topics: [transfer, null, null, null, null] }, /topics/],
      [{ topics: [["0x00"]] }, /place of topics/],
      [{ fromBlock: 5 }, /fromBlock/],
      [{ blockHash: transfer }, /eth_getLogs/],
      [{ address: Array.from({ length: 1001 }, (_, index) => addressOf(String(index))) }, /at most 1000/],
    ] as const) {
      t.match(await gateway.call("eth_newFilter", criteria === undefined ? [] : [criteria]), {
        refused: "invalid_params",
        message,
      });
    }
  });

  t.test("a filter of pending transactions gives each hash once, from its creation on", async (t) => {
    const gateway = gatewayOver(createScriptedChain());
    const hashes = Array.from({ length: 5 }, (_, index) => topicOf(`transaction ${index}`));
    const [first = "", second = "", ...others] = hashes;
    await pending.publish(first);
    const id = await gateway.call("eth_newPendingTransactionFilter");
    await pending.publish(second);
    await pending.publish(first);
    await pending.publish(second);
    t.same(await gateway.call("eth_getFilterChanges", [id]), [second]);
    t.same(await gateway.call("eth_getFilterChanges", [id]), []);
    for (const hash of others) await pending.publish(hash);
    t.same(await gateway.call("eth_getFilterChanges", [id]), others);
    t.match(await gateway.call("eth_getFilterLogs", [id]), { refused: "filter_not_found" });
  });

  t.test("without Redis a filter cannot be reached, and nothing is lost by it", async (t) => {
    const chain = createScriptedChain();
    const gateway = gatewayOver(chain);
    gateway.tell(chain.add());
    const id = await gateway.call("eth_newBlockFilter");
    gateway.tell(chain.add());
    redis.disconnect();
    t.match(await gateway.call("eth_getFilterChanges", [id]), { refused: "service_unavailable" });
    await redis.connect();
    t.same(await gateway.call("eth_getFilterChanges", [id]), chain.hashes().slice(1));
  });
});
