import DataLoader from "dataloader";
import {
  GraphQLError,
  type GraphQLFieldConfig,
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
import {
  listAccountTransactions,
  listBlockTransactions,
  listTransactions,
} from "../read/transaction-lists.ts";
import { listAccountTransfers } from "../read/transfer-lists.ts";
import {
  type BlockRecord,
  blockRecord,
  blockRow,
  consensusRecord,
  rankingRecord,
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
import { accountAddress, pageLimitMax, transactionHash } from "../rest/parameters.ts";
import { connectionOf, connectionType, pageArguments } from "./connection.ts";
import { scalars } from "./scalars.ts";
import { createTypes } from "./type-of-record.ts";

export type GraphqlContext = {
  read: ReadModel;
  /** Blocks by number, each asked once in a request. */
  blocks: DataLoader<number, BlockRecord | undefined>;
};

export function createContext(read: ReadModel): GraphqlContext {
  return {
    read,
    blocks: new DataLoader((numbers) => Promise.all(numbers.map((number) => read.block(number)))),
  };
}

/** REST's `transactions` of a block are hashes; in GraphQL they are a list that can be looked into. */
export const renamedFields = { Block: { transactions: "transactionHashes" } } as const;

type Field = GraphQLFieldConfig<unknown, GraphqlContext>;

const pageInput = z.object({
  first: z.int().min(1).max(pageLimitMax),
  after: z.string().nullish(),
});
const numbered = z.object({ number: z.number() });
const placed = z.object({ blockNumber: z.number() });
const addressed = z.object({ address: accountAddress });

/** The schema, over the same read model as REST. Fields of a type are those of its record, and the lists that belong to it. */
export function createSchema(): GraphQLSchema {
  const types = createTypes<GraphqlContext>({
    extraFields: {
      Block: () => ({ transactions: blockTransactions, consensus: consensusField }),
      BlockSummary: () => ({ transactions: blockTransactions, consensus: consensusField }),
      TransactionSummary: () => ({ block: blockField }),
      Transaction: () => ({ block: blockField }),
      Account: () => ({ transactions: accountTransactions, transfers: accountTransfers }),
    },
    renamedFields,
  });
  const blocks = connectionType("Block", types.of(blockRow));
  const transactions = connectionType("Transaction", types.of(transactionRow));
  const transfers = connectionType("Transfer", types.of(transferRecord));
  const burnEvents = connectionType("BurnEvent", types.of(burnEventRecord));

  const blockTransactions = list(transactions, ({ read }, source, query) =>
    listBlockTransactions(read.db, numbered.parse(source).number, query),
  );
  const consensusField: Field = {
    type: types.of(consensusRecord),
    resolve: (source, _arguments, { read }) => read.blockConsensus(numbered.parse(source).number),
  };
  const blockField: Field = {
    type: types.of(blockRecord),
    resolve: (source, _arguments, { blocks: loader }) => {
      const found = placed.safeParse(source);
      return found.success ? loader.load(found.data.blockNumber) : null;
    },
  };
  const accountTransactions = list(transactions, ({ read }, source, query) =>
    listAccountTransactions(read.db, addressed.parse(source).address, { ...anyTransaction, ...query }),
  );
  const accountTransfers = list(transfers, ({ read }, source, query) =>
    listAccountTransfers(read.db, addressed.parse(source).address, { direction: "both", ...query }),
  );

  const query = new GraphQLObjectType<unknown, GraphqlContext>({
    name: "Query",
    fields: {
      chain: one(types.of(chainRecord), ({ read }) => read.chain()),
      latestBlock: one(types.of(blockRecord), ({ read }) => read.latestBlock()),
      block: {
        type: types.of(blockRecord),
        args: { number: { type: new GraphQLNonNull(GraphQLInt) } },
        resolve: (_source, given, context) =>
          context.blocks.load(parsed(z.object({ number: z.int().min(0) }), given).number),
      },
      blockByHash: {
        type: types.of(blockRecord),
        args: { hash: { type: new GraphQLNonNull(scalars.Hash) } },
        resolve: (_source, given, { read }) =>
          read.blockByHash(parsed(z.object({ hash: transactionHash }), given).hash),
      },
      blocks: list(blocks, ({ read }, _source, page) => listBlocks(read.db, page)),
      transaction: {
        type: types.of(transactionRecord),
        args: { hash: { type: new GraphQLNonNull(scalars.Hash) } },
        resolve: (_source, given, { read }) =>
          read.transaction(parsed(z.object({ hash: transactionHash }), given).hash),
      },
      transactions: list(transactions, ({ read }, _source, page) => listTransactions(read.db, page)),
      account: {
        type: new GraphQLNonNull(types.of(accountRecord)),
        args: { address: { type: new GraphQLNonNull(scalars.Address) } },
        resolve: (_source, given, { read }) =>
          read.account(parsed(z.object({ address: accountAddress }), given).address),
      },
      validators: one(types.of(validatorsRecord), ({ read }) => read.validators()),
      validatorRanking: one(types.of(rankingRecord), ({ read }) => read.ranking()),
      networkContracts: one(types.of(contractsRecord), ({ read }) => read.networkContracts()),
      burns: one(types.of(burnsRecord), ({ read }) => read.burns()),
      burnEvents: list(burnEvents, ({ read }, _source, page) => listBurnEvents(read.db, page)),
      search: {
        type: new GraphQLNonNull(types.of(searchRecord)),
        args: { q: { type: new GraphQLNonNull(GraphQLString) } },
        resolve: (_source, given, { read }) =>
          search(read, parsed(z.object({ q: z.string().max(100) }), given).q),
      },
    },
  });
  return new GraphQLSchema({ query });
}

const anyTransaction = { direction: "both" } as const;

function one(type: GraphQLObjectType, resolve: (context: GraphqlContext) => unknown): Field {
  return { type: new GraphQLNonNull(type), resolve: (_source, _arguments, context) => resolve(context) };
}

function list<Row>(
  type: GraphQLObjectType,
  read: (context: GraphqlContext, source: unknown, query: PageQuery) => Promise<Page<Row> | Refusal>,
): Field {
  return {
    type: new GraphQLNonNull(type),
    args: pageArguments,
    async resolve(source, given, context) {
      const { first, after } = parsed(pageInput, given);
      const page = await read(context, source, { limit: first, cursor: after ?? undefined });
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
