import {
  GraphQLEnumType,
  GraphQLError,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from "graphql";
import { z } from "zod";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { listBlocks } from "../read/block-lists.ts";
import { listBurnEvents } from "../read/burns.ts";
import type { Page, PageQuery } from "../read/page.ts";
import type { ReadModel } from "../read/read-model.ts";
import { search } from "../read/search.ts";
import { listAccountTransactions, listTransactions } from "../read/transaction-lists.ts";
import { listAccountTransfers, listTokenTransfers } from "../read/transfer-lists.ts";
import {
  blockRecord,
  blockRow,
  consensusRecord,
  rankingRecord,
  validatorRecord,
  validatorsRecord,
} from "../records/block.ts";
import {
  burnEventRecord,
  burnsRecord,
  chainRecord,
  contractsRecord,
  searchRecord,
} from "../records/chain.ts";
import { accountRecord, transactionRecord, transactionRow, transferRecord } from "../records/transaction.ts";
import { accountAddress, day, direction, status, transactionHash } from "../rest/parameters.ts";
import { connectionOf, connectionType, pageArguments, pageInput } from "./connection.ts";
import type { GraphqlContext } from "./context.ts";
import { calls } from "./limit-cost.ts";
import { scalars } from "./scalars.ts";
import { createTypes } from "./type-of-record.ts";

/** REST's `transactions` of a block are hashes; in GraphQL they are a list that can be looked into. */
export const renamedFields = { Block: { transactions: "transactionHashes" } } as const;

type Field = GraphQLFieldConfig<unknown, GraphqlContext>;

const numbered = z.object({ number: z.number() });
const indexed = z.object({ blockNumber: z.number() });
const placed = z.object({ blockNumber: z.number().nullable() });
const addressed = z.object({ address: accountAddress });

/** The schema, over the same read model as REST. Fields of a type are those of its record, and the lists that belong to it. */
export function createSchema(): GraphQLSchema {
  const types = createTypes<GraphqlContext>({
    extraFields: {
      Block: () => ({ transactions: blockTransactions, consensus: consensusField }),
      BlockSummary: () => ({ transactions: blockTransactions, consensus: consensusField }),
      TransactionSummary: () => ({ block: blockRowField }),
      Transaction: () => ({ block: blockField }),
      Account: () => ({ transactions: accountTransactions, transfers: accountTransfers }),
    },
    renamedFields,
  });
  const blocks = connectionType("Block", types.of(blockRow));
  const transactions = connectionType("Transaction", types.of(transactionRow));
  const transfers = connectionType("Transfer", types.of(transferRecord));
  const burnEvents = connectionType("BurnEvent", types.of(burnEventRecord));

  const blockTransactions = list({
    type: transactions,
    read: ({ blockTransactions: pages }, { source, page }) => pages(page).load(numbered.parse(source).number),
  });
  const consensusField: Field = {
    ...calls(1),
    type: types.of(consensusRecord),
    resolve: (source, _given, { consensus }) => consensus.load(numbered.parse(source).number),
  };
  const blockField: Field = {
    ...calls(1),
    type: types.of(blockRecord),
    description: "Null while it is pending",
    resolve(source, _given, { blocks: loader }) {
      const { blockNumber } = placed.parse(source);
      return blockNumber === null ? null : loader.load(blockNumber);
    },
  };
  const blockRowField: Field = {
    type: types.of(blockRow),
    resolve: (source, _given, { blockRows }) => blockRows.load(indexed.parse(source).blockNumber),
  };
  const accountTransactions = list({
    type: transactions,
    args: {
      direction: { type: directionType },
      status: { type: statusType },
      from: { type: scalars.Date, description: "The first day, in UTC" },
      to: { type: scalars.Date, description: "The last day, in UTC" },
    },
    read({ read: { db } }, { source, given, page }) {
      const filter = parsed(transactionFilter, given);
      return listAccountTransactions(db, addressed.parse(source).address, { ...filter, ...page });
    },
  });
  const accountTransfers = list({
    type: transfers,
    args: { direction: { type: directionType } },
    read({ read: { db } }, { source, given, page }) {
      const filter = parsed(transferFilter, given);
      return listAccountTransfers(db, addressed.parse(source).address, { ...filter, ...page });
    },
  });

  const query = new GraphQLObjectType<unknown, GraphqlContext>({
    name: "Query",
    fields: {
      chain: whole("chain", types.of(chainRecord), 1, (read) => read.chain()),
      latestBlock: whole("latestBlock", types.of(blockRecord), 0, (read) => read.latestBlock()),
      block: {
        ...calls(1),
        type: types.of(blockRecord),
        args: { number: { type: new GraphQLNonNull(GraphQLInt) } },
        resolve: (_source, given, context) => context.blocks.load(parsed(byNumber, given).number),
      },
      blockByHash: {
        ...calls(1),
        type: types.of(blockRecord),
        args: { hash: { type: new GraphQLNonNull(scalars.Hash) } },
        resolve: (_source, given, { read }) => read.blockByHash(parsed(byHash, given).hash),
      },
      blocks: list({ type: blocks, read: ({ read: { db } }, { page }) => listBlocks(db, page) }),
      transaction: {
        ...calls(2),
        type: types.of(transactionRecord),
        args: { hash: { type: new GraphQLNonNull(scalars.Hash) } },
        resolve: (_source, given, { read }) => read.transaction(parsed(byHash, given).hash),
      },
      transactions: list({
        type: transactions,
        read: ({ read: { db } }, { page }) => listTransactions(db, page),
      }),
      account: {
        ...calls(3),
        type: new GraphQLNonNull(types.of(accountRecord)),
        args: { address: { type: new GraphQLNonNull(scalars.Address) } },
        resolve: (_source, given, { read }) => read.account(parsed(addressed, given).address),
      },
      tokenTransfers: list({
        type: transfers,
        args: { address: { type: new GraphQLNonNull(scalars.Address), description: "The token's" } },
        read: ({ read: { db } }, { given, page }) =>
          listTokenTransfers(db, parsed(addressed, given).address, page),
      }),
      validators: whole("validators", types.of(validatorsRecord), 2, (read) => read.validators()),
      validator: {
        ...calls(2),
        type: types.of(validatorRecord),
        args: { address: { type: new GraphQLNonNull(scalars.Address) } },
        resolve: (_source, given, { read }) => read.validator(parsed(addressed, given).address),
      },
      validatorRanking: whole("validatorRanking", types.of(rankingRecord), 2, (read) => read.ranking()),
      networkContracts: whole("networkContracts", types.of(contractsRecord), 5, (read) =>
        read.networkContracts(),
      ),
      burns: whole("burns", types.of(burnsRecord), 2, (read) => read.burns()),
      burnEvents: list({ type: burnEvents, read: ({ read: { db } }, { page }) => listBurnEvents(db, page) }),
      search: {
        ...calls(3),
        type: new GraphQLNonNull(types.of(searchRecord)),
        args: { q: { type: new GraphQLNonNull(GraphQLString) } },
        resolve: (_source, given, { read }) => search(read, parsed(bySearch, given).q),
      },
    },
  });
  return new GraphQLSchema({ query });
}

const byNumber = z.object({ number: z.int().min(0, "A block's number was expected") });
const byHash = z.object({ hash: transactionHash });
const bySearch = z.object({ q: z.string().max(100, "At most 100 characters were expected") });
const directionType = new GraphQLEnumType({
  name: "Direction",
  description: "Received, sent, or both (which is meant where nothing is said)",
  values: { in: {}, out: {}, both: {} },
});
const statusType = new GraphQLEnumType({ name: "Outcome", values: { success: {}, failed: {} } });
// A null that is given means the same as nothing.
const transferFilter = z.object({ direction: direction.nullish().transform((value) => value ?? "both") });
const transactionFilter = transferFilter.extend({
  status: status.nullish().transform((value) => value ?? undefined),
  from: day.nullish().transform((value) => value ?? undefined),
  to: day.nullish().transform((value) => value ?? undefined),
});

/** A record that needs no argument. */
function whole(
  name: string,
  type: GraphQLObjectType,
  cost: number,
  resolve: (read: ReadModel) => Promise<unknown>,
): Field {
  return {
    ...calls(cost),
    type: new GraphQLNonNull(type),
    resolve: (_source, _given, { read, memo }) => memo.get(name, () => resolve(read)),
  };
}

function list<Row>({
  type,
  args = {},
  read,
}: {
  type: GraphQLObjectType;
  args?: GraphQLFieldConfigArgumentMap;
  read: (
    context: GraphqlContext,
    asked: { source: unknown; given: unknown; page: PageQuery },
  ) => Promise<Page<Row> | Refusal>;
}): Field {
  return {
    type: new GraphQLNonNull(type),
    args: { ...args, ...pageArguments },
    async resolve(source, given, context) {
      const { first, after } = parsed(pageInput, given);
      const page = await read(context, { source, given, page: { limit: first, cursor: after } });
      if (isRefusal(page)) throw new GraphQLError(page.errors?.[0]?.message ?? page.detail);
      return connectionOf(page, { after });
    },
  };
}

/** What a client gave, checked; its mistake is told to it. */
function parsed<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const found = schema.safeParse(given);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new GraphQLError(
    `${issue?.path.join(".") ?? "An argument"}: ${issue?.message ?? "it cannot be used"}`,
  );
}
