import { GraphQLObjectType, GraphQLSchema, GraphQLString } from "graphql";
import t from "tap";
import { createChainReader } from "../../../api/chain/chain-reader.ts";
import { createKnownContracts } from "../../../api/chain/known-contracts.ts";
import { createDocumentCheck } from "../../../api/graphql/check-document.ts";
import { createHeadMemo } from "../../../api/graphql/head-memo.ts";
import { createSchema } from "../../../api/graphql/schema.ts";
import { serveGraphql } from "../../../api/graphql/serve-graphql.ts";
import { createReadModel } from "../../../api/read/read-model.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { createBodyReader, jsonType } from "../../../lib/http-service/body-reader.ts";
import { createHttpService, listenOn } from "../../../lib/http-service/create-http-service.ts";
import { ask } from "./support/ask.ts";

t.test("of a fault of ours a client learns that there was one, and the log what it was", async (t) => {
  const logged: unknown[] = [];
  const logger = { warn() {}, error: (...line: unknown[]) => void logged.push(line) };
  const rpc = createRpcClient({ url: "http://127.0.0.1:1", timeoutMs: 1000 });
  t.teardown(() => rpc.stop());
  const query = new GraphQLObjectType({
    name: "Query",
    fields: {
      fault: {
        type: GraphQLString,
        resolve: () => Promise.reject(new TypeError("password=hunter2 in /srv/secret.ts")),
      },
      text: { type: GraphQLString, resolve: () => "here" },
    },
  });
  const bodies = createBodyReader({ what: "A query", types: [jsonType] });
  const app = createHttpService({ bodies, bodyBytesMax: 65_536, requestTimeoutMs: 15_000, logger });
  serveGraphql(app, {
    schema: new GraphQLSchema({ query }),
    read: createReadModel({
      reader: createChainReader({ rpc }),
      newest: { block: () => undefined },
      db: { query: () => Promise.reject(new Error("no database here")) },
      contracts: createKnownContracts([]),
      names: {},
      settings: { blockTimeSeconds: 2, stalledAfterMs: 20_000 },
    }),
    memo: createHeadMemo(),
    charge: async () => ({ refund() {} }),
    bodies,
    explain: () => undefined,
    logger,
  });
  const { port, stop } = await listenOn(app, { host: "127.0.0.1", port: 0 });
  t.teardown(stop);
  const answer = await ask(`http://127.0.0.1:${port}`, "{ text fault }");
  t.equal(answer.status, 200);
  t.same(answer.data, { text: "here", fault: null });
  t.match(answer.errors, [{ message: "Something went wrong on our side" }]);
  t.notMatch(answer.text, /hunter2|secret|TypeError/);
  t.equal(logged.length, 1);
  t.match(
    String(JSON.stringify(logged, (_key, value) => (value instanceof Error ? value.message : value))),
    /hunter2/,
  );
});

t.test("a document is looked at once, and so many are kept as memory is set aside for", async (t) => {
  const check = createDocumentCheck(createSchema());
  const good = "{ chain { chainId } }";
  const bad = "{ chain { nothing } }";
  const first = [check(good), check(bad)];
  t.equal(check(good), first[0]);
  t.equal(check(bad), first[1], "also what is wrong with it");
  for (let index = 0; index < 600; index += 1) check(`{ chain { chainId } } # ${index}`);
  t.not(check(good), first[0]);

  const large = `{ chain { chainId } } # ${"x".repeat(60_000)}`;
  const kept = check(large);
  for (let index = 0; index < 300; index += 1) check(`${large} ${index}`);
  t.not(check(large), kept, "by bytes as well");
});

t.test(
  "what is true for a head is made once for it, and anew a second later or after a failure",
  async (t) => {
    let nowMs = 0;
    let made = 0;
    const memo = createHeadMemo({ monotonicMs: () => nowMs });
    const get = () => memo.get("chain", async () => (made += 1));
    t.same(await Promise.all([get(), get()]), [1, 1]);
    memo.forget();
    t.equal(await get(), 2);
    nowMs = 999;
    t.equal(await get(), 2);
    nowMs = 1000;
    t.equal(await get(), 3);
    memo.forget();
    await t.rejects(memo.get("chain", () => Promise.reject(new Error("away"))));
    t.equal(await get(), 4);
  },
);
