import { getAddress, hexlify } from "ethers";
import { pino } from "pino";
import t from "tap";
import { z } from "zod";
import { createKnownContracts } from "../../../api/chain/known-contracts.ts";
import { readBlockRows } from "../../../api/read/block-lists.ts";
import { createReadModel } from "../../../api/read/read-model.ts";
import { listCreations, listTransactionsOfBlocks } from "../../../api/read/transaction-lists.ts";
import { pageLimitMax } from "../../../api/rest/parameters.ts";
import { createRoutes } from "../../../api/rest/routes.ts";
import { encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readText } from "../../../lib/postgres/row.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const blocks = 80_000;
const transactionsOfBlock = 6;
const validators = Array.from({ length: 5 }, (_, index) => `0x${String(index + 1).padStart(40, "0")}`);
/** It sends every fifth transaction and none of its own fails; half of all transfers are its. */
const busy = getAddress(`0x${"ff".repeat(20)}`);
const token = getAddress(`0x${"01".padStart(40, "0")}`);
const firstSecond = 1_700_000_000;

const pool = createPostgresPool({
  url: await createDatabase(t),
  name: "test",
  logger: pino({ level: "silent" }),
  statementTimeoutMs: 60_000,
});
t.teardown(() => pool.end());
await fill(pool);

/** About a million rows, as the follower would leave them. */
async function fill(db: Queryable): Promise<void> {
  const word = (expression: string, bytes: number) =>
    `decode(lpad(to_hex(${expression}), ${2 * bytes}, '0'), 'hex')`;
  const account = (expression: string) => word(`(${expression}) % 5000`, 20);
  const busyBytes = `decode('${busy.slice(2)}', 'hex')`;
  // Filled row by row in no order, indexes take three times as long.
  const { rows: indexes } = await db.query(`select indexname, indexdef from pg_indexes
    where schemaname = 'chain' and tablename in ('tx', 'transfer', 'burn') and indexname not like '%pkey'`);
  for (const row of indexes) await db.query(`drop index chain.${readText(row, "indexname")}`);
  await db.query(
    `insert into chain.follower values (true, 1, ${word("1", 32)}, ${blocks}, ${word("2", 32)})`,
  );
  await db.query(`insert into chain.block select n, ${word("n", 32)}, ${firstSecond} + 2 * n, ${word("n % 5 + 1", 20)},
    0, '{}', 21000, 30000000, ${transactionsOfBlock}, 3, 900 from generate_series(0, ${blocks - 1}) n`);
  await db.query(`insert into chain.tx select n / ${transactionsOfBlock}, n % ${transactionsOfBlock}, ${word("n", 32)},
    case when n % 5 = 0 then ${busyBytes} else ${account("n * 31")} end, ${account("n * 17")},
    case when n % 100 = 7 then ${word("n", 20)} end, n, n, 21000, 21000, n % 50 <> 3, 2, null
    from generate_series(0, ${blocks * transactionsOfBlock} - 1) n`);
  await db.query(`insert into chain.transfer select n / 3, n % 3, 0, n % 3, ${word("n % 900 + 1", 20)},
    case when n % 2 = 0 then ${busyBytes} else ${account("n * 13")} end, ${account("n * 7")}, n, null
    from generate_series(0, ${3 * blocks} - 1) n`);
  await db.query(
    `insert into chain.token select ${word("n", 20)}, 'erc20', 'T', 'T', 18 from generate_series(1, 900) n`,
  );
  await db.query(`insert into chain.seal select n / 5, ${word("n % 5 + 1", 20)}
    from generate_series(5 * ${blocks - 10_000}, 5 * ${blocks} - 1) n`);
  await db.query(`insert into chain.burn select n, 0, 0, (array['svc_dev', 'payments', 'bridge'])[n % 3 + 1],
    ${word("n", 32)}, ${busyBytes}, 100, 30, 70 from generate_series(0, ${blocks / 2}) n`);
  for (const row of indexes) await db.query(readText(row, "indexdef"));
  await db.query("analyze");
}

type Plan = { "Node Type": string; "Relation Name"?: string | undefined; Plans?: Plan[] | undefined };
const plan: z.ZodType<Plan> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    "Relation Name": z.string().optional(),
    Plans: z.array(plan).optional(),
  }),
);
const explained = z
  .array(
    z.object({ Plan: z.looseObject({ "Shared Hit Blocks": z.number(), "Shared Read Blocks": z.number() }) }),
  )
  .length(1);

/** One row, and a row a source and day. */
const small = new Set(["follower", "burn_total", "token"]);
const sequential = (node: Plan): string[] => [
  ...(node["Node Type"].includes("Seq Scan") && !small.has(node["Relation Name"] ?? "")
    ? [String(node["Relation Name"])]
    : []),
  ...(node.Plans ?? []).flatMap(sequential),
];

/** Explains each statement before it carries it out. */
const explainedMax = 12;
const seen: { statement: string; scanned: string[]; pages: number }[] = [];
const explaining: Queryable = {
  async query(statement, values) {
    if (typeof statement !== "object") throw new Error("a statement with values was expected");
    // The pages of a file are alike.
    if (seen.length >= explainedMax) return pool.query(statement, values);
    const { rows } = await pool.query({
      text: `explain (analyze, buffers, format json) ${statement.text}`,
      values: statement.values ?? [],
    });
    const [{ Plan: root } = { Plan: undefined }] = explained.parse(rows[0]?.["QUERY PLAN"]);
    const pages = (root?.["Shared Hit Blocks"] ?? 0) + (root?.["Shared Read Blocks"] ?? 0);
    seen.push({ statement: statement.name ?? statement.text, scanned: sequential(plan.parse(root)), pages });
    return pool.query(statement, values);
  },
};

const newest = {
  ...{ number: blocks - 1, timestamp: firstSecond, miner: String(validators[0]), size: 900, header: {} },
  ...{ hash: hexlify(new Uint8Array(32)), parentHash: hexlify(new Uint8Array(32)), transactions: [] },
  ...{ gasUsed: 0n, gasLimit: 0n, baseFeePerGas: null },
  ...{ transactionsRoot: "0x", receiptsRoot: "0x", stateRoot: "0x" },
  extraData: encodeExtraData({
    ...{ consensus: "ibft2", vanity: hexlify(new Uint8Array(32)), vote: undefined, round: 0, seals: [] },
    validators,
  }),
};
const read = createReadModel({
  reader: {
    block: async () => newest,
    blockByHash: async () => newest,
    transaction: async () => undefined,
    account: async () => ({ balance: 0n, nonce: 0, code: "0x" }),
    code: async () => "0x",
    logs: async () => [],
    gasPrice: async () => 1n,
    call: async () => ({ returned: "0x" }),
  },
  newest: { block: () => newest },
  db: explaining,
  contracts: createKnownContracts([]),
  names: {},
  settings: { blockTimeSeconds: 2, stalledAfterMs: 20_000 },
});

const day = (block: number) => new Date((firstSecond + 2 * block) * 1000).toISOString().slice(0, 10);
const choices: Readonly<Record<string, readonly (string | undefined)[]>> = {
  limit: [String(pageLimitMax)],
  cursor: [undefined, Buffer.from(`1.1.${blocks / 2}.3.0`).toString("base64url")],
  direction: ["in", "out", "both"],
  status: [undefined, "success", "failed"],
  from: [undefined, day(blocks / 2)],
  to: [undefined, day(blocks / 2)],
  blocks: ["1000"],
  q: ["0"],
};
const params = { number: String(blocks / 2), hash: `0x${"ab".repeat(32)}`, name: "none" };

function combinations(names: readonly string[]): Record<string, string>[] {
  const [name, ...rest] = names;
  if (name === undefined) return [{}];
  const others = combinations(rest);
  return (choices[name] ?? []).flatMap((value) =>
    others.map((other) => (value === undefined ? other : { [name]: value, ...other })),
  );
}

/** Of 8 kB: a page of a list or 250 rows of a file, joined to three tables, from two sides, with the way to each. */
const pagesMax = { list: 1500, file: 4000 };
/** What is of more rows than a page: 1000 blocks with their seals. */
const wide: Readonly<Record<string, number>> = { "validator-counts": 20_000 };
const rare = new Set(["getBlockConsensus"]);

t.test("no route reads a table from end to end, whatever its parameters", async (t) => {
  const routes = createRoutes({ version: "0", publicUrl: "http://127.0.0.1", graphqlSchema: () => "" });
  for (const { path, query, answer, operationId, response } of routes) {
    if (rare.has(operationId)) continue;
    const addresses = !path.includes("{address}") ? [""] : path.includes("tokens") ? [token] : [busy, token];
    for (const address of addresses) {
      // A file is read like the list, 250 rows at once.
      const isFile = "mediaType" in response;
      for (const asked of combinations(Object.keys(query.shape))) {
        if (isFile && ("from" in asked || "to" in asked)) continue;
        seen.length = 0;
        const ofPath = Object.fromEntries(
          [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [
            name,
            name === "address" ? address : Object.entries(params).find(([key]) => key === name)?.[1],
          ]),
        );
        const got = await answer({ params: ofPath, query: asked, read });
        const what = `${operationId} ${address.slice(0, 6)} ${JSON.stringify(asked)}`;
        t.notOk("refused" in got && got.refused !== "not_found", what);
        for (const { statement, scanned, pages } of seen) {
          t.same(scanned, [], `${what}: ${statement} scans`);
          t.ok(
            pages <= (wide[statement] ?? (isFile ? pagesMax.file : pagesMax.list)),
            `${what}: ${statement} read ${pages} pages`,
          );
        }
      }
    }
  }
});

t.test("nor does a list that a page alone has, however rare its rows are", async (t) => {
  const earliest = Buffer.from("1.1.30.0.0").toString("base64url");
  for (const cursor of [undefined, earliest]) {
    seen.length = 0;
    await listCreations(explaining, { limit: pageLimitMax, cursor });
    for (const { statement, scanned, pages } of seen) {
      t.same(scanned, [], statement);
      t.ok(pages <= pagesMax.list, `${statement} read ${pages} pages`);
    }
  }
});

t.test("nor do the reads of several parents at once", async (t) => {
  seen.length = 0;
  const numbers = Array.from({ length: 100 }, (_, index) => index * 797);
  await listTransactionsOfBlocks(explaining, numbers, { limit: 20 });
  await readBlockRows(explaining, numbers);
  t.equal(
    seen.some(({ statement }) => statement === "transactions-of-blocks"),
    true,
  );
  for (const { statement, scanned, pages } of seen) {
    t.same(scanned, [], statement);
    t.ok(pages <= 10_000, `${statement} read ${pages} pages`);
  }
});
