import { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { transactionCsv, transferCsv } from "../../read/csv.ts";
import { listAccountTransactions, listTransactions } from "../../read/transaction-lists.ts";
import { listAccountTransfers, listTokenTransfers } from "../../read/transfer-lists.ts";
import {
  accountRecord,
  logRecord,
  transactionRecord,
  transactionRow,
  transferRecord,
} from "../../records/transaction.ts";
import { listOf } from "../../records/values.ts";
import {
  accountAddress,
  cursor,
  day,
  direction,
  limit,
  noParameters,
  pageQuery,
  status,
  transactionHash,
} from "../parameters.ts";
import { pageAnswer, route } from "../route.ts";

const byHash = z.strictObject({ hash: transactionHash });
const byAddress = z.strictObject({ address: accountAddress });
const noSuchTransaction: Refusal = refusal(
  "not_found",
  "Neither a block nor a validator's pool has this transaction",
);

const transactionFilter = { direction, status, from: day, to: day };
const transferFilter = { direction };
/** A file costs as much as the pages that it is made of. */
const csvCost = 10;
const csv = { mediaType: "text/csv", description: "A line a row, the newest 10 000 at most" };

export const transactionRoutes = [
  route({
    path: "/api/v1/transactions",
    operationId: "listTransactions",
    tag: "Transactions",
    summary: "Transactions, newest first",
    params: noParameters,
    query: pageQuery,
    response: listOf("Transactions", transactionRow),
    answer: async ({ query, read }) => pageAnswer(await listTransactions(read.db, query)),
  }),
  route({
    path: "/api/v1/transactions/{hash}",
    operationId: "getTransaction",
    tag: "Transactions",
    summary: "A transaction and its receipt",
    params: byHash,
    query: noParameters,
    response: transactionRecord,
    problems: ["not_found"],
    async answer({ params: { hash }, read }) {
      const record = await read.transaction(hash);
      if (record === undefined) return noSuchTransaction;
      return { record, cache: record.receipt === null ? "head" : "mined" };
    },
  }),
  route({
    path: "/api/v1/transactions/{hash}/logs",
    operationId: "listTransactionLogs",
    tag: "Transactions",
    summary: "A transaction's logs, in their order",
    params: byHash,
    query: noParameters,
    response: z.strictObject({ data: z.array(logRecord) }).meta({ id: "Logs" }),
    problems: ["not_found"],
    async answer({ params: { hash }, read }) {
      const data = await read.transactionLogs(hash);
      return data === undefined ? noSuchTransaction : { record: { data }, cache: "head" };
    },
  }),
  route({
    path: "/api/v1/accounts/{address}",
    operationId: "getAccount",
    tag: "Accounts",
    summary: "An account's balance, and how many transactions it has sent",
    params: byAddress,
    query: noParameters,
    response: accountRecord,
    answer: async ({ params: { address }, read }) => ({ record: await read.account(address), cache: "head" }),
  }),
  route({
    path: "/api/v1/accounts/{address}/transactions",
    operationId: "listAccountTransactions",
    tag: "Accounts",
    summary: "An account's transactions, newest first",
    params: byAddress,
    query: z.strictObject({ limit, cursor, ...transactionFilter }),
    response: listOf("Transactions", transactionRow),
    answer: async ({ params: { address }, query, read }) =>
      pageAnswer(await listAccountTransactions(read.db, address, query)),
  }),
  route({
    path: "/api/v1/accounts/{address}/transactions.csv",
    operationId: "exportAccountTransactions",
    tag: "Accounts",
    summary: "An account's transactions as a file",
    params: byAddress,
    query: z.strictObject(transactionFilter),
    response: csv,
    cost: csvCost,
    answer: async ({ params: { address }, query, read }) => ({
      text: await transactionCsv(read.db, address, query),
      type: "text/csv; charset=utf-8",
      fileName: `transactions-${address}.csv`,
      cache: "head",
    }),
  }),
  route({
    path: "/api/v1/accounts/{address}/transfers",
    operationId: "listAccountTransfers",
    tag: "Accounts",
    summary: "Transfers of tokens from and to an account, newest first",
    params: byAddress,
    query: z.strictObject({ limit, cursor, ...transferFilter }),
    response: listOf("Transfers", transferRecord),
    answer: async ({ params: { address }, query, read }) =>
      pageAnswer(await listAccountTransfers(read.db, address, query)),
  }),
  route({
    path: "/api/v1/accounts/{address}/transfers.csv",
    operationId: "exportAccountTransfers",
    tag: "Accounts",
    summary: "Transfers of tokens from and to an account as a file",
    params: byAddress,
    query: z.strictObject(transferFilter),
    response: csv,
    cost: csvCost,
    answer: async ({ params: { address }, query, read }) => ({
      text: await transferCsv(read.db, address, query),
      type: "text/csv; charset=utf-8",
      fileName: `transfers-${address}.csv`,
      cache: "head",
    }),
  }),
  route({
    path: "/api/v1/tokens/{address}/transfers",
    operationId: "listTokenTransfers",
    tag: "Tokens",
    summary: "Transfers of one token, newest first",
    params: byAddress,
    query: pageQuery,
    response: listOf("Transfers", transferRecord),
    answer: async ({ params: { address }, query, read }) =>
      pageAnswer(await listTokenTransfers(read.db, address, query)),
  }),
];
