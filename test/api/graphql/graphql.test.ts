import { auditServer } from "graphql-http";
import t from "tap";
import { startApi } from "../support/start-api.ts";
import { alice, startWorld } from "../support/start-world.ts";
import { ask, askByGet } from "./support/ask.ts";

const { api, hashes, services } = await startWorld(t);
const url = `${api.url}/graphql`;
const json = { "Content-Type": "application/json" };

t.test("GraphQL over HTTP, as its audits have it", async (t) => {
  const results = await auditServer({ url, fetchFn: fetch });
  t.equal(results.length, 61);
  for (const result of results) t.equal(result.status, "ok", `${result.id} ${result.name}`);
});

t.test("the published query, and lists that can be looked into", async (t) => {
  t.match((await ask(api.url, "{ chain { blockNumber chainId } }")).data, {
    chain: { blockNumber: 2, chainId: 8845 },
  });
  const { data } = await ask(
    api.url,
    `{ blocks(first: 2) { nodes { number transactions(first: 1) {
        nodes { hash block { number transactions(first: 3) { nodes { index } } } } pageInfo { hasNextPage }
      } } } }`,
  );
  t.same(data, {
    blocks: {
      nodes: [
        {
          number: 2,
          transactions: {
            nodes: [{ hash: hashes.transfer, block: { number: 2, transactions: { nodes: [{ index: 0 }] } } }],
            pageInfo: { hasNextPage: false },
          },
        },
        {
          number: 1,
          transactions: {
            nodes: [
              {
                hash: hashes.creation,
                block: { number: 1, transactions: { nodes: [{ index: 2 }, { index: 1 }, { index: 0 }] } },
              },
            ],
            pageInfo: { hasNextPage: true },
          },
        },
      ],
    },
  });
  const account = await ask(
    api.url,
    `{ account(address: "${alice}") {
        transactions(direction: out, status: failed, from: "1970-01-02", to: null) { nodes { hash status } }
        transfers(direction: in) { nodes { value } } } }`,
  );
  t.same(account.data, {
    account: {
      transactions: { nodes: [{ hash: hashes.failed, status: "failed" }] },
      transfers: { nodes: [] },
    },
  });
});

t.test(
  "connections are Relay's: each edge has a cursor, and the list goes on after any of them",
  async (t) => {
    const list = (after: string | null, first: number) =>
      ask(
        api.url,
        `query ($after: String, $first: Int) { transactions(first: $first, after: $after) {
         edges { cursor node { hash } } nodes { hash } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        { after, first },
      );
    type List = {
      transactions: {
        edges: { cursor: string; node: { hash: string } }[];
        pageInfo: { startCursor: string | null; endCursor: string | null };
      };
    };
    const isList = (data: unknown): data is List =>
      typeof data === "object" && data !== null && "transactions" in data;
    const read = async (after: string | null, first: number) => {
      const { data, text } = await list(after, first);
      if (!isList(data)) throw new Error(text);
      return data.transactions;
    };
    const whole = await read(null, 10);
    t.equal(whole.edges.length, 4);
    t.match(whole.pageInfo, {
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: whole.edges[0]?.cursor,
      endCursor: whole.edges[3]?.cursor,
    });
    for (const [index, { cursor }] of whole.edges.entries()) {
      const rest = await read(cursor, 10);
      t.same(rest.edges, whole.edges.slice(index + 1), `after ${index}`);
      t.match(rest.pageInfo, { hasNextPage: false, hasPreviousPage: true });
    }
    t.match((await read(null, 2)).pageInfo, { hasNextPage: true, endCursor: whole.edges[1]?.cursor });
    const rest = await api.get("/api/v1/transactions?limit=2");
    t.match(rest.json, { nextCursor: whole.edges[1]?.cursor }, "cursors are REST's");
    t.notMatch(rest.text, /cursors/);

    for (const [first, after] of [
      [0, null],
      [101, null],
      [-1, null],
      [2, "garbage"],
      [2, "\0"],
      [2, "x".repeat(1000)],
      [2, Buffer.from("1.7.1.1.0").toString("base64url")],
    ] as const) {
      const refused = await list(after, first);
      t.equal(refused.errors.length, 1, `${first} ${after}`);
      t.match(refused.errors[0]?.message, /1 to 100|cursor/i);
    }
    t.same((await ask(api.url, "{ blocks(first: null) { nodes { number } } }")).errors, []);
  },
);

t.test("what would cost everybody is refused before it is looked at", async (t) => {
  const many = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(" ");
  const hostile = {
    nested: "{ blocks(first: 100) { nodes { transactions(first: 100) { nodes { hash } } } } }",
    aliases: `{ ${many(50, (index) => `a${index}: chain { chainId }`)} }`,
    repeated: `{ ${"chain { chainId } ".repeat(900)} }`,
    circle: "{ chain { ...A } } fragment A on Chain { ...B } fragment B on Chain { ...A }",
    deep: `{ block(number: 1) ${"{ transactions { nodes { block ".repeat(6)}{ number }${" } } }".repeat(6)} }`,
    doubling: `{ latestBlock { ...F0 } } ${many(30, (index) => `fragment F${index} on Block { ...F${index + 1} ...F${index + 1} }`)} fragment F30 on Block { number }`,
    several: "query A { chain { chainId } } query B { chain { chainId } }",
    variable:
      "query ($n: Int) { blocks(first: $n) { nodes { transactions(first: $n) { nodes { hash } } } } }",
    introspection: `{ __schema { types ${"{ fields { type ".repeat(8)} { name } ${"} }".repeat(8)} } }`,
    unknown: `{ ${many(900, (index) => `f${index}`)} }`,
    mutation: "mutation { chain { chainId } }",
    subscription: "subscription { chain { chainId } }",
  };
  const tookMs: Record<string, number> = {};
  for (const [title, query] of Object.entries(hostile)) {
    const begunMs = performance.now();
    const answer = await ask(api.url, query, { n: 1 });
    tookMs[title] = Math.round(performance.now() - begunMs);
    t.ok(answer.errors.length > 0, `${title}: ${answer.text.slice(0, 200)}`);
    t.ok(answer.text.length < 100_000, title);
  }
  t.comment(tookMs);
  t.ok(Math.max(...Object.values(tookMs)) < 3000, "each in tens of milliseconds, on an idle machine");
  // Many tokens that cost little: within the limits, and no more than a moment's work.
  t.same((await ask(api.url, `{ ${"__typename ".repeat(900)} }`)).status, 200);
  t.same((await ask(api.url, `{ ${"latestBlock { number } ".repeat(240)} }`)).errors, []);
});

t.test("a client's mistakes are told to it, and are no errors of ours", async (t) => {
  const wrong = await ask(
    api.url,
    '{ account(address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267") { balance } }',
  );
  t.match(wrong.errors[0]?.message, /checksum/);
  const post = async (body: string, headers: Record<string, string> = json) => {
    const response = await fetch(url, { method: "POST", headers, body });
    return {
      status: response.status,
      text: await response.text(),
      type: response.headers.get("content-type"),
    };
  };
  for (const body of [
    "",
    "{",
    "[]",
    '"{}"',
    "null",
    '[{"query":"{__typename}"}]',
    '{"query":1}',
    '{"variables":{}}',
  ]) {
    const answer = await post(body);
    t.equal(answer.status, 400, body);
    t.notMatch(answer.text, /our side|node_modules|\.ts:|"data"/, body);
  }
  t.match(await post("{__typename}", { "Content-Type": "application/graphql" }), {
    status: 415,
    type: "application/problem+json",
  });
  t.match(await post("query=%7B__typename%7D", { "Content-Type": "application/x-www-form-urlencoded" }), {
    status: 415,
  });
  t.match(await post('{"query":"{__typename}"}', { "Content-Type": "application/json; charset=utf-16" }), {
    status: 415,
  });
  t.match(await post('{"query":"{__typename}"}', { ...json, "Content-Encoding": "gzip" }), { status: 415 });
  t.match(await post('{"query":"{__typename}"}', { ...json, Accept: "text/html" }), {
    status: 406,
    type: "application/problem+json",
  });
  t.match(await post(JSON.stringify({ query: "{__typename}", pad: "x".repeat(65_536) })), { status: 413 });
  t.match(await post(JSON.stringify({ query: `{__typename} #${"x".repeat(60_000)}` })), { status: 200 });
  for (const method of ["HEAD", "PUT", "DELETE", "PATCH"]) {
    const { status, headers } = await fetch(url, { method });
    t.same([status, headers.get("allow")], [405, "GET, POST"], method);
  }
  t.notOk(
    api.logLines.some((line) => line.includes('"level":50')),
    "nothing of it is logged as an error",
  );
});

t.test("a query by GET is answered as one by POST, and may be kept as long as REST's answers", async (t) => {
  const found = await askByGet(api.url, "{ chain { chainId } }");
  t.same(found.data, { chain: { chainId: 8845 } });
  t.equal(found.headers.get("cache-control"), "public, max-age=1, stale-while-revalidate=2");
  t.equal(found.headers.get("vary"), "Origin, Accept");
  t.equal((await askByGet(api.url, "{ nothing }")).headers.get("cache-control"), "no-store");
  t.equal((await ask(api.url, "{ chain { chainId } }")).headers.get("cache-control"), "no-store");
});

t.test("a query costs a point, and one more for each 500 of its cost", async (t) => {
  const limited = await startApi(t, {
    ...services,
    // A database of its own, so that what the tests above asked does not count.
    redisUrl: `${services.redisUrl}/1`,
    change: (config) => ({ ...config, limits: { points: 20, windowSeconds: 3600 } }),
  });
  const left = async (answer: Promise<{ headers: Headers }>) =>
    Number(/r=(\d+)/.exec((await answer).headers.get("ratelimit") ?? "")?.[1]);
  t.equal(await left(ask(limited.url, "{ chain { chainId } }")), 19);
  t.equal(await left(ask(limited.url, "{ nothing }")), 18);
  const costly = "{ blocks(first: 100) { nodes { transactions(first: 10) { nodes { hash } } } } }";
  t.equal(await left(ask(limited.url, costly)), 18 - 1 - 4);
  t.equal(await left(askByGet(limited.url, costly)), 13 - 1 - 4, "by GET as well");
  t.equal(await left(ask(limited.url, "{ __schema { types { name } } }")), 6);
  for (const expected of [5, 4, 3, 2]) t.equal(await left(ask(limited.url, "{ __typename }")), expected);
  const refused = await fetch(`${limited.url}/graphql`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ query: costly }),
  });
  t.equal(refused.status, 429);
  t.match(await refused.json(), { code: "rate_limited" });
  t.ok(Number(refused.headers.get("retry-after")) > 0);
});
