import { GraphQLEnumType } from "graphql";
import { z } from "zod";
import { listAccountTransactions } from "../read/transaction-lists.ts";
import { listAccountTransfers } from "../read/transfer-lists.ts";
import { blockRecord, blockRow, consensusRecord } from "../records/block.ts";
import { accountAddress, day, direction, status } from "../rest/parameters.ts";
import type { GraphqlContext } from "./context.ts";
import { type Field, list, parsed } from "./field.ts";
import { calls } from "./limit-cost.ts";
import { scalars } from "./scalars.ts";
import type { SchemaTypes } from "./schema-types.ts";
import type { ExtraFields } from "./type-of-record.ts";

const numbered = z.object({ number: z.number() });
const indexed = z.object({ blockNumber: z.number() });
const placed = z.object({ blockNumber: z.number().nullable() });
const addressed = z.object({ address: accountAddress });

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

/** What can be reached from a record: a block's transactions, a transaction's block, an account's lists. */
export function recordFields(types: SchemaTypes): ExtraFields<GraphqlContext> {
  const blockTransactions = list({
    type: types.transactions,
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
    type: types.transactions,
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
    type: types.transfers,
    args: { direction: { type: directionType } },
    read({ read: { db } }, { source, given, page }) {
      const filter = parsed(transferFilter, given);
      return listAccountTransfers(db, addressed.parse(source).address, { ...filter, ...page });
    },
  });

  return {
    Block: { transactions: blockTransactions, consensus: consensusField },
    BlockSummary: { transactions: blockTransactions, consensus: consensusField },
    TransactionSummary: { block: blockRowField },
    Transaction: { block: blockField },
    Account: { transactions: accountTransactions, transfers: accountTransfers },
  };
}
