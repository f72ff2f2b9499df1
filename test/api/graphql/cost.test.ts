import { parse } from "graphql";
import t from "tap";
import { costOf, findExcess } from "../../../api/graphql/limit-cost.ts";
import { createSchema } from "../../../api/graphql/schema.ts";

const schema = createSchema();
const cost = (query: string) => costOf(schema, parse(query));
const excess = (query: string) => findExcess(schema, parse(query));
const account = 'account(address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")';

t.test("a field costs 1, times `first` of the lists above it", async (t) => {
  t.equal(cost("{ blocks(first: 7) { nodes { number hash } } }"), 1 + 7 * (1 + 2));
  t.equal(cost("{ blocks { nodes { number } } }"), 1 + 20 * (1 + 1), "20 where nothing is said");
  t.equal(cost("query ($n: Int) { blocks(first: $n) { nodes { number } } }"), 1 + 100 * (1 + 1));
  t.equal(cost("{ blocks(first: null) { nodes { number } } }"), 1 + 100 * (1 + 1));
  t.equal(
    cost("{ blocks(first: 2) { nodes { transactions(first: 3) { nodes { hash } } } } }"),
    1 + 2 * (1 + 1 + 3 * (1 + 1)),
  );
  t.equal(
    cost("{ ...A ...A } fragment A on Query { latestBlock { ... on Block { number } ... { hash } } }"),
    6,
  );
});

t.test("a call of the chain costs 100, so that a query pays for them as REST does", async (t) => {
  t.equal(cost("{ block(number: 1) { number } }"), 100 + 2);
  t.equal(cost(`{ ${account} { balance } }`), 300 + 2);
  t.equal(cost("{ blocks(first: 3) { nodes { consensus { round } } } }"), 1 + 3 * (1 + 101 + 1));
  t.match(
    excess("{ blocks(first: 100) { nodes { consensus { round } } } }"),
    /costs at most 5000, not 10301/,
  );
  const accounts = Array.from({ length: 15 }, (_, index) => `a${index}: ${account} { balance }`).join(" ");
  t.equal(excess(`{ ${accounts} }`), undefined);
  t.equal(cost(`{ ${accounts} }`), 15 * 302);
});

t.test("each limit is met and passed by one", async (t) => {
  const aliases = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: chain { chainId }`).join(" ")} }`;
  t.equal(excess(aliases(15)), undefined);
  t.match(excess(aliases(16)), /15 aliases, not 16/);
  const spread = "{ ...A ...A } fragment A on Query { a: chain { chainId } }";
  t.equal(excess(spread), undefined, "an alias is one, however often its fragment is used");

  const deep = (levels: number) =>
    `{ ${"transactions(first: 1) { nodes { block { ".repeat(levels)} number ${"} } }".repeat(levels)} }`;
  const deepest = "{ latestBlock { ...A } } fragment A on Block { consensus { round } }";
  t.equal(excess(deepest), undefined);
  t.equal(
    excess(
      deep(1).replace(
        "number",
        "transactions(first: 1) { nodes { block { transactions(first: 1) { nodes { block { number } } } } } }",
      ),
    ),
    undefined,
    "10 levels",
  );
  t.match(
    excess(
      deep(1).replace(
        "number",
        "transactions(first: 1) { nodes { block { transactions(first: 1) { nodes { block { transactions(first: 1) { indexedBlock } } } } } } }",
      ),
    ),
    /10 levels deep, not 11/,
  );

  t.match(excess("query A { chain { chainId } } query B { chain { chainId } }"), /at most 1 operation/);
  t.match(
    excess("{ chain { chainId } } fragment A on Chain { ...B } fragment B on Chain { ...A }"),
    /themselves/,
  );
  t.match(
    excess("{ blocks(first: 100) { nodes { transactions(first: 100) { nodes { hash } } } } }"),
    /costs/,
  );
});
