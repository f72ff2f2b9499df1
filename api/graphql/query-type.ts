import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from "graphql";
import { z } from "zod";
import { listBlocks } from "../read/block-lists.ts";
import { listBurnEvents } from "../read/burns.ts";
import { search } from "../read/search.ts";
import { listTransactions } from "../read/transaction-lists.ts";
import { listTokenTransfers } from "../read/transfer-lists.ts";
import { blockRecord, rankingRecord, validatorRecord, validatorsRecord } from "../records/block.ts";
import { burnsRecord, chainRecord, contractsRecord, searchRecord } from "../records/chain.ts";
import { accountRecord, transactionRecord } from "../records/transaction.ts";
import { accountAddress, transactionHash } from "../rest/parameters.ts";
import type { GraphqlContext } from "./context.ts";
import { list, parsed, whole } from "./field.ts";
import { calls } from "./limit-cost.ts";
import { scalars } from "./scalars.ts";
import type { SchemaTypes } from "./schema-types.ts";

const addressed = z.object({ address: accountAddress });
const byNumber = z.object({ number: z.int().min(0, "A block's number was expected") });
const byHash = z.object({ hash: transactionHash });
const bySearch = z.object({ q: z.string().max(100, "At most 100 characters were expected") });

/** What a query begins with. */
export function queryType(types: SchemaTypes) {
  return new GraphQLObjectType<unknown, GraphqlContext>({
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
      blocks: list({ type: types.blocks, read: ({ read: { db } }, { page }) => listBlocks(db, page) }),
      transaction: {
        ...calls(2),
        type: types.of(transactionRecord),
        args: { hash: { type: new GraphQLNonNull(scalars.Hash) } },
        resolve: (_source, given, { read }) => read.transaction(parsed(byHash, given).hash),
      },
      transactions: list({
        type: types.transactions,
        read: ({ read: { db } }, { page }) => listTransactions(db, page),
      }),
      account: {
        ...calls(3),
        type: new GraphQLNonNull(types.of(accountRecord)),
        args: { address: { type: new GraphQLNonNull(scalars.Address) } },
        resolve: (_source, given, { read }) => read.account(parsed(addressed, given).address),
      },
      tokenTransfers: list({
        type: types.transfers,
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
      burnEvents: list({
        type: types.burnEvents,
        read: ({ read: { db } }, { page }) => listBurnEvents(db, page),
      }),
      search: {
        ...calls(3),
        type: new GraphQLNonNull(types.of(searchRecord)),
        args: { q: { type: new GraphQLNonNull(GraphQLString) } },
        resolve: (_source, given, { read }) => search(read, parsed(bySearch, given).q),
      },
    },
  });
}
