import { graphql } from "graphql";
import { pino } from "pino";
import t from "tap";
import { createChainReader } from "../../../api/chain/chain-reader.ts";
import { createKnownContracts } from "../../../api/chain/known-contracts.ts";
import { createContext } from "../../../api/graphql/context.ts";
import { createHeadMemo } from "../../../api/graphql/head-memo.ts";
import { createSchema } from "../../../api/graphql/schema.ts";
import { createReadModel } from "../../../api/read/read-model.ts";
import { createRpcClient, type RpcCall } from "../../../lib/chain/rpc-client.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Statement } from "../../../lib/postgres/queryable.ts";
import { startCutProxy } from "../../fakes/cut-proxy.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { alice, bob, startServices } from "../support/start-world.ts";
import { ask } from "./support/ask.ts";

const { anvil, ...services } = await startServices(t);
const blocks = 25;
await anvil.rpc("evm_setAutomine", [false]);
for (let block = 0; block < blocks; block += 1) {
  for (const value of ["0x1", "0x2"])
    await anvil.rpc("eth_sendTransaction", [{ from: alice, to: bob, value }]);
  await anvil.rpc("evm_mine");
}
const chainProxy = await startCutProxy(t, { port: anvil.port });
const database = new URL(services.postgresUrl);
const databaseProxy = await startCutProxy(t, { port: Number(database.port) });
database.port = new URL(databaseProxy.url).port;
const api = await startApi(t, { ...services, upstream: chainProxy.url, postgresUrl: database.href });
await waitFor("the index has all blocks", async () =>
  (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${blocks}`),
);

/** The schema over a chain and a database whose questions are counted. */
const logger = pino({ level: "silent" });
const pool = createPostgresPool({ url: services.postgresUrl, name: "test", logger });
t.teardown(() => pool.end());
const rpc = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
t.teardown(() => rpc.stop());
const asked = { calls: [] as string[], statements: [] as string[] };
const read = createReadModel({
  reader: createChainReader({
    rpc: {
      ...rpc,
      askAll(calls: readonly RpcCall[]) {
        asked.calls.push(...calls.map(({ method }) => method));
        return rpc.askAll(calls);
      },
    },
  }),
  newest: { block: () => undefined },
  db: {
    query(statement: string | Statement) {
      asked.statements.push(typeof statement === "string" ? statement : (statement.name ?? statement.text));
      return pool.query(statement);
    },
  },
  contracts: createKnownContracts([]),
  names: {},
  settings: { blockTimeSeconds: 2, stalledAfterMs: 20_000 },
});
const schema = createSchema();

async function count(source: string) {
  asked.calls = [];
  asked.statements = [];
  const { data, errors } = await graphql({
    schema,
    source,
    contextValue: createContext({ read, memo: createHeadMemo() }),
  });
  t.equal(errors, undefined);
  return { data, ...asked };
}

t.test(
  "20 blocks with their transactions cost no call of the chain, and a query for each level",
  async (t) => {
    const { data, calls, statements } = await count(`{ blocks(first: 20) { nodes { number
    transactions(first: 5) { nodes { hash value block { number } } pageInfo { hasNextPage endCursor } } } } }`);
    t.same(calls, []);
    t.same(statements, [
      "index-state",
      "blocks",
      "index-state",
      "transactions-of-blocks",
      "blocks-by-number",
    ]);
    t.same(
      JSON.parse(JSON.stringify(data)).blocks.nodes.map(
        (block: {
          number: number;
          transactions: { nodes: { value: string; block: { number: number } }[] };
        }) => [block.number, ...block.transactions.nodes.map((one) => [one.value, one.block.number])],
      ),
      Array.from({ length: 20 }, (_, index) => [
        blocks - index,
        ["2", blocks - index],
        ["1", blocks - index],
      ]),
    );
    const list = "select count(*) from unnest($1::bigint[])";
    t.ok(list);
  },
);

t.test("nested pages go on after a cursor, each within its own block", async (t) => {
  const { data } = await count(
    "{ blocks(first: 1) { nodes { transactions(first: 1) { pageInfo { endCursor } } } } }",
  );
  const { endCursor } = JSON.parse(JSON.stringify(data)).blocks.nodes[0].transactions.pageInfo;
  const next = await count(
    `{ blocks(first: 2) { nodes { transactions(first: 1, after: "${endCursor}") { nodes { value } pageInfo { hasNextPage } } } } }`,
  );
  t.same(JSON.parse(JSON.stringify(next.data)).blocks.nodes, [
    { transactions: { nodes: [{ value: "1" }], pageInfo: { hasNextPage: false } } },
    { transactions: { nodes: [{ value: "2" }], pageInfo: { hasNextPage: true } } },
  ]);
});

t.test("what several fields need is asked for once", async (t) => {
  const aliases = Array.from({ length: 15 }, (_, index) => `a${index}: validatorRanking { formula }`);
  t.equal(
    (await count(`{ ${aliases.slice(0, 1).join(" ")} }`)).statements.length,
    (await count(`{ ${aliases.join(" ")} }`)).statements.length,
  );
  const same = Array.from(
    { length: 10 },
    (_, index) => `a${index}: block(number: 3) { hash consensus { round } }`,
  );
  const { calls } = await count(`{ ${same.join(" ")} }`);
  t.same(calls, ["eth_getBlockByNumber", "eth_getBlockByNumber"], "the block, and who sealed it");
});

t.test("where the database is away, the chain's records go on; and the other way round", async (t) => {
  const query = "{ blocks(first: 1) { nodes { number } } }";
  const block = "{ block(number: 3) { number transactions(first: 1) { nodes { hash } } } }";
  databaseProxy.set("cut");
  const noDatabase = await ask(api.url, query);
  t.equal(noDatabase.data, null);
  t.match(noDatabase.errors, [{ message: /index cannot be asked/, extensions: { code: /./ } }]);
  t.same((await ask(api.url, "{ block(number: 3) { number } }")).data, { block: { number: 3 } });
  const half = await ask(api.url, block);
  t.same(half.data, { block: null });
  t.match(half.errors, [{ message: /index cannot be asked/ }]);
  t.notMatch(half.text, /ECONN|Connection|node_modules|\.ts:|127\.0\.0\.1/);
  databaseProxy.set("open");
  await waitFor("the database is back", async () => (await ask(api.url, query)).errors.length === 0);

  chainProxy.set("cut");
  const noChain = await ask(api.url, `{ block(number: 4) { number } blocks(first: 1) { nodes { number } } }`);
  t.match(noChain.errors, [{ message: /chain cannot be asked/, extensions: { code: /./ } }]);
  t.same(noChain.data, { block: null, blocks: { nodes: [{ number: blocks }] } });
  t.notMatch(noChain.text, /ECONN|undici|node_modules|\.ts:|127\.0\.0\.1/);
  chainProxy.set("open");
});
