import { auditServer } from "graphql-http";
import t from "tap";
import { startWorld } from "../support/start-world.ts";

const { api, hashes } = await startWorld(t);

async function ask(query: string, variables: object = {}) {
  const response = await fetch(`${api.url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}

t.test("GraphQL over HTTP, as its audits have it", async (t) => {
  const results = await auditServer({ url: `${api.url}/graphql`, fetchFn: fetch });
  t.equal(results.length, 61);
  for (const result of results) t.equal(result.status, "ok", `${result.id} ${result.name}`);
});

t.test("the published query, and lists that can be looked into", async (t) => {
  t.match((await ask("{ chain { blockNumber chainId } }")).json, {
    data: { chain: { blockNumber: 2, chainId: 8845 } },
  });
  const nested = await ask(
    "{ blocks(first: 2) { nodes { number transactions(first: 5) { nodes { hash } } } pageInfo { hasNextPage endCursor } } }",
  );
  t.match(nested.json, {
    data: {
      blocks: {
        nodes: [{ number: 2, transactions: { nodes: [{ hash: hashes.transfer }] } }, { number: 1 }],
        pageInfo: { hasNextPage: true },
      },
    },
  });
  const { endCursor } = nested.json.data.blocks.pageInfo;
  const next = await ask("query ($after: String) { blocks(first: 5, after: $after) { nodes { number } } }", {
    after: endCursor,
  });
  t.same(next.json.data.blocks.nodes, [{ number: 0 }]);
});

t.test("what would cost everybody is refused before it is looked at", async (t) => {
  const nested = "{ blocks(first: 100) { nodes { transactions(first: 100) { nodes { hash } } } } }";
  const aliases = `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: chain { chainId }`).join(" ")} }`;
  const repeated = `{ ${"chain { chainId } ".repeat(900)} }`;
  const circle = "{ chain { ...A } } fragment A on Chain { ...B } fragment B on Chain { ...A }";
  const deep = `{ block(number: 1) ${"{ transactions { nodes { block ".repeat(6)}{ number }${" } } }".repeat(6)} }`;
  const doubling = `{ chain { ...F0 } } ${Array.from({ length: 30 }, (_, index) => `fragment F${index} on Chain { ...F${index + 1} ...F${index + 1} }`).join(" ")} fragment F30 on Chain { chainId }`;
  const several = "query A { chain { chainId } } query B { chain { chainId } }";
  const variable =
    "query ($n: Int) { blocks(first: $n) { nodes { transactions(first: $n) { nodes { hash } } } } }";
  for (const [title, query] of Object.entries({
    nested,
    aliases,
    repeated,
    circle,
    deep,
    doubling,
    several,
    variable,
  })) {
    const begunMs = performance.now();
    const answer = await ask(query, { n: 1 });
    t.ok(answer.json.errors?.length > 0, `${title}: ${answer.text.slice(0, 200)}`);
    t.ok(performance.now() - begunMs < 5000, title);
  }
  t.match((await ask("{ blocks(first: 101) { nodes { number } } }")).json.errors?.[0]?.message, /100/);
  t.match((await ask("{ blocks(first: 0) { nodes { number } } }")).json.errors?.[0]?.message, /first/);
});

t.test("an inner error's words reach nobody", async (t) => {
  const answer = await ask('{ account(address: "0x1234567890123456789012345678901234567890") { balance } }');
  t.match(answer.json, { data: { account: { balance: "0" } } });
  const wrong = await ask('{ account(address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267") { balance } }');
  t.match(wrong.json.errors?.[0]?.message, /checksum/);
  t.notMatch(wrong.text, /node_modules|\.ts:/);
});
