import { blockRow } from "../records/block.ts";
import { burnEventRecord } from "../records/chain.ts";
import { transactionRow, transferRecord } from "../records/transaction.ts";
import { connectionType } from "./connection.ts";
import type { GraphqlContext } from "./context.ts";
import { createTypes, type ExtraFields } from "./type-of-record.ts";

export type SchemaTypes = ReturnType<typeof createSchemaTypes>;

/** REST's `transactions` of a block are hashes; in GraphQL they are a list that can be looked into. */
export const renamedFields = { Block: { transactions: "transactionHashes" } } as const;

/** The types of records, and of lists of them. */
export function createSchemaTypes({ extraFields }: { extraFields: () => ExtraFields<GraphqlContext> }) {
  const types = createTypes<GraphqlContext>({ extraFields, renamedFields });
  return {
    of: types.of,
    blocks: connectionType("Block", types.of(blockRow)),
    transactions: connectionType("Transaction", types.of(transactionRow)),
    transfers: connectionType("Transfer", types.of(transferRecord)),
    burnEvents: connectionType("BurnEvent", types.of(burnEventRecord)),
  };
}
