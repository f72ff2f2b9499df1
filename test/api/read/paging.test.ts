import { getAddress } from "ethers";
import fc from "fast-check";
import { pino } from "pino";
import t from "tap";
import { z } from "zod";
import { listBlocks } from "../../../api/read/block-lists.ts";
import { listBurnEvents } from "../../../api/read/burns.ts";
import type { Page, PageQuery } from "../../../api/read/page.ts";
import {
  type Direction,
  listAccountTransactions,
  listBlockTransactions,
  listTransactions,
} from "../../../api/read/transaction-lists.ts";
import { listAccountTransfers, listTokenTransfers } from "../../../api/read/transfer-lists.ts";
import { isRefusal, type Refusal } from "../../../lib/http-service/refusal.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const pool = createPostgresPool({
  url: await createDatabase(t),
  name: "test",
  logger: pino({ level: "silent" }),
});
t.teardown(() => pool.end());

type Block = {
  transactions: { from: number; to: number; ok: boolean }[];
  /** Of the block's first transaction. Items of one log follow each other. */
  transfers: { log: number; item: number; token: number; from: number; to: number }[];
  burns: number;
};
/** A row by which tests tell rows apart. */
type Place = { block: number; index: number; item: number };

const accounts = 3;
const address = (account: number) => getAddress(`0x${String(account + 1).padStart(40, "0")}`);
const bytes = (value: number, length: number) =>
  Buffer.from(value.toString(16).padStart(2 * length, "0"), "hex");
const daySeconds = 86_400;
/** Four blocks a day. */
const timeOf = (block: number) => 1_700_006_400 + block * (daySeconds / 4);
const dayOf = (block: number) => new Date(timeOf(block) * 1000).toISOString().slice(0, 10);

async function begin(epoch: number): Promise<void> {
  await pool.query("truncate chain.follower, chain.block, chain.tx, chain.transfer, chain.burn");
  await pool.query("insert into chain.follower values (true, $1, $2, 0, null)", [epoch, bytes(1, 32)]);
}

/** Adds a block as the follower does: its rows and where the index ends, in one step. */
async function add(number: number, { transactions, transfers, burns }: Block): Promise<void> {
  const statements: { text: string; values: unknown[] }[] = [
    {
      text: "insert into chain.block values ($1, $2, $3, $4, null, '{}', 0, 0, $5, $6, 0)",
      values: [
        number,
        bytes(number + 1, 32),
        timeOf(number),
        bytes(0, 20),
        transactions.length,
        transfers.length,
      ],
    },
    ...transactions.map(({ from, to, ok }, index) => ({
      text: "insert into chain.tx values ($1, $2, $3, $4, $5, null, 0, 0, 0, 0, $6, 2, null)",
      values: [number, index, bytes(number * 100 + index, 32), bytes(from + 1, 20), bytes(to + 1, 20), ok],
    })),
    ...transfers.map(({ log, item, token, from, to }) => ({
      text: "insert into chain.transfer values ($1, $2, $3, 0, $4, $5, $6, 1, null)",
      values: [number, log, item, bytes(token + 1, 20), bytes(from + 1, 20), bytes(to + 1, 20)],
    })),
    ...Array.from({ length: burns }, (_, index) => ({
      text: "insert into chain.burn values ($1, $2, 0, 'svc_dev', $3, $4, 10, 3, 7)",
      values: [number, index, bytes(1, 32), bytes(1, 20)],
    })),
    {
      text: "update chain.follower set next = $1, last_hash = $2",
      values: [number + 1, bytes(number + 1, 32)],
    },
  ];
  const connection = await pool.connect();
  try {
    await connection.query("begin");
    for (const { text, values } of statements) await connection.query(text, values);
    await connection.query("commit");
  } finally {
    connection.release();
  }
}

const account = fc.nat({ max: accounts - 1 });
const transaction = fc.record({ from: account, to: account, ok: fc.boolean() });
const block: fc.Arbitrary<Block> = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: 4 }),
  transfers: fc.uniqueArray(
    fc.record({
      log: fc.nat({ max: 3 }),
      item: fc.nat({ max: 2 }),
      token: account,
      from: account,
      to: account,
    }),
    { maxLength: 5, selector: ({ log, item }) => `${log} ${item}` },
  ),
  burns: fc.nat({ max: 2 }),
});
const direction = fc.constantFrom<Direction>("in", "out", "both");
const day = fc.option(fc.nat({ max: 12 }).map(dayOf), { nil: undefined });
const is = (side: Direction, who: number, { from, to }: { from: number; to: number }) =>
  (side !== "in" && from === who) || (side !== "out" && to === who);

type List = {
  what: string;
  read(query: PageQuery): Promise<Page<object> | Refusal>;
  /** The rows of a block that belong to it. */
  rowsOf(block: Block, number: number): Omit<Place, "block">[];
};
const anyList: fc.Arbitrary<List> = fc
  .record({
    kind: fc.constantFrom(
      "blocks",
      "transactions",
      "of a block",
      "of an account",
      "transfers",
      "of a token",
      "burns",
    ),
    ...{ who: account, side: direction, from: day, to: day, number: fc.nat({ max: 8 }) },
    status: fc.constantFrom(undefined, "success" as const, "failed" as const),
  })
  .map(({ kind, who, side, from, to, number, status }): List => {
    const what = JSON.stringify({ kind, who, side, from, to, number, status });
    const places = <Row>(rows: readonly Row[], belongs: (row: Row) => boolean) =>
      rows.flatMap((row, index) => (belongs(row) ? [{ index, item: 0 }] : []));
    const transfers = (belongs: (row: Block["transfers"][number]) => boolean) => (of: Block) =>
      of.transfers.filter(belongs).map(({ log, item }) => ({ index: log, item }));
    if (kind === "blocks") {
      return { what, read: (query) => listBlocks(pool, query), rowsOf: () => [{ index: 0, item: 0 }] };
    }
    if (kind === "transactions") {
      return {
        what,
        read: (query) => listTransactions(pool, query),
        rowsOf: ({ transactions }) => places(transactions, () => true),
      };
    }
    if (kind === "of a block") {
      return {
        what,
        read: (query) => listBlockTransactions(pool, number, query),
        rowsOf: ({ transactions }, of) => places(transactions, () => of === number),
      };
    }
    if (kind === "of an account") {
      return {
        what,
        read: (query) =>
          listAccountTransactions(pool, address(who), { ...query, direction: side, status, from, to }),
        rowsOf: ({ transactions }, of) =>
          places(
            transactions,
            (row) =>
              is(side, who, row) &&
              (status === undefined || row.ok === (status === "success")) &&
              (from === undefined || dayOf(of) >= from) &&
              (to === undefined || dayOf(of) <= to),
          ),
      };
    }
    if (kind === "transfers") {
      return {
        what,
        read: (query) => listAccountTransfers(pool, address(who), { ...query, direction: side }),
        rowsOf: transfers((row) => is(side, who, row)),
      };
    }
    if (kind === "of a token") {
      return {
        what,
        read: (query) => listTokenTransfers(pool, address(who), query),
        rowsOf: transfers(({ token }) => token === who),
      };
    }
    return {
      what,
      read: (query) => listBurnEvents(pool, query),
      rowsOf: ({ burns }) => Array.from({ length: burns }, (_, index) => ({ index, item: 0 })),
    };
  });

const row = z.looseObject({
  blockNumber: z.number().optional(),
  number: z.number().optional(),
  index: z.number().optional(),
  logIndex: z.number().optional(),
});
const told = (record: object): Omit<Place, "item"> => {
  const { blockNumber, number, index, logIndex } = row.parse(record);
  return { block: blockNumber ?? number ?? -1, index: index ?? logIndex ?? 0 };
};
const descending = (one: Place, other: Place) =>
  other.block - one.block || other.index - one.index || other.item - one.item;

t.test("joined pages are the list as it was at the first, whatever comes in meanwhile", async (t) => {
  const seed = Date.now() % 2 ** 31;
  t.comment(`seed ${seed}`);
  let epoch = 0;
  let pagesRead = 0;
  const property = fc.asyncProperty(
    fc.array(block, { maxLength: 9 }),
    fc.array(block, { maxLength: 6 }),
    fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
    anyList,
    async (before, during, limits, list) => {
      epoch += 1;
      await begin(epoch);
      for (const [number, one] of before.entries()) await add(number, one);
      const expected = before
        .flatMap((one, number) => list.rowsOf(one, number).map((place) => ({ block: number, ...place })))
        .sort(descending)
        .map(({ block, index }) => ({ block, index }));
      const joined: object[] = [];
      let cursor: string | undefined;
      let step = 0;
      do {
        const limit = limits[step % limits.length] ?? 1;
        const page = await list.read({ limit, cursor });
        if (isRefusal(page)) throw new Error(page.detail);
        if (page.data.length > limit) throw new Error("a page is longer than its limit");
        if (page.nextCursor !== null && page.data.length < limit) throw new Error("a page is not full");
        joined.push(...page.data.map(told));
        pagesRead += 1;
        const next = during[step];
        if (next !== undefined) await add(before.length + step, next);
        cursor = page.nextCursor ?? undefined;
        step += 1;
      } while (cursor !== undefined && step < 200);
      t.same(joined, expected, list.what);
      return JSON.stringify(joined) === JSON.stringify(expected);
    },
  );
  await fc.assert(property, { seed, numRuns: 60 });
  t.ok(pagesRead > 60, `${pagesRead} pages`);
});

t.test("a cursor of a chain that is gone is refused, and so is one of the days to come", async (t) => {
  await begin(1_000_000);
  for (const number of [0, 1, 2]) {
    await add(number, { transactions: [{ from: 0, to: 1, ok: true }], transfers: [], burns: 0 });
  }
  const first = await listBlocks(pool, { limit: 1 });
  if (isRefusal(first)) throw new Error(first.detail);
  const cursor = first.nextCursor ?? "";
  t.notOk(isRefusal(await listBlocks(pool, { limit: 1, cursor })));
  await pool.query("update chain.follower set epoch = epoch + 1");
  t.match(await listBlocks(pool, { limit: 1, cursor }), { refused: "invalid_params" });
  await pool.query("update chain.follower set epoch = epoch - 2");
  t.match(await listBlocks(pool, { limit: 1, cursor }), { refused: "invalid_params" });
});

t.test("before the first block lists are empty and say that they know none", async (t) => {
  await pool.query("truncate chain.follower, chain.block, chain.tx");
  t.match(await listBlocks(pool, { limit: 5 }), { data: [], nextCursor: null, indexedBlock: null });
  await begin(3);
  t.match(await listTransactions(pool, { limit: 5 }), { data: [], nextCursor: null, indexedBlock: null });
});
