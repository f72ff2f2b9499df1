import { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { listBlocks } from "../../read/block-lists.ts";
import { readBlockTimes, readGas, readProposers } from "../../read/statistics.ts";
import { listBlockTransactions } from "../../read/transaction-lists.ts";
import {
  blockRecord,
  blockRow,
  blockTimesRecord,
  consensusRecord,
  gasRecord,
  proposersRecord,
  rankingRecord,
  validatorRecord,
  validatorsRecord,
} from "../../records/block.ts";
import { transactionRow } from "../../records/transaction.ts";
import { listOf } from "../../records/values.ts";
import { accountAddress, blockNumber, noParameters, pageQuery, transactionHash } from "../parameters.ts";
import { pageAnswer, route } from "../route.ts";

const byNumber = z.strictObject({ number: blockNumber });
const noSuchBlock: Refusal = refusal("not_found", "The chain has no such block yet");

/** How many of the newest blocks a statistic is of. */
const blocks = (max: number) =>
  z.strictObject({
    blocks: z
      .string(`A number from 1 to ${max} was expected`)
      .regex(/^[1-9][0-9]{0,4}$/, `A number from 1 to ${max} was expected`)
      .transform(Number)
      .refine((value) => value <= max, `A number from 1 to ${max} was expected`)
      .optional()
      .transform((value) => value ?? 100)
      .meta({
        ...{ description: "How many of the newest blocks", examples: [100] },
        ...{ type: "integer", minimum: 1, maximum: max, default: 100 },
      }),
  });

export const blockRoutes = [
  route({
    path: "/api/v1/blocks",
    operationId: "listBlocks",
    tag: "Blocks",
    summary: "Blocks, newest first",
    params: noParameters,
    query: pageQuery,
    response: listOf("Blocks", blockRow),
    answer: async ({ query, read }) => pageAnswer(await listBlocks(read.db, query)),
  }),
  route({
    path: "/api/v1/blocks/latest",
    operationId: "getLatestBlock",
    tag: "Blocks",
    summary: "The newest block",
    params: noParameters,
    query: noParameters,
    response: blockRecord,
    answer: async ({ read }) => ({ record: await read.latestBlock(), cache: "head" }),
  }),
  route({
    path: "/api/v1/blocks/{number}",
    operationId: "getBlock",
    tag: "Blocks",
    summary: "A block by its number",
    params: byNumber,
    query: noParameters,
    response: blockRecord,
    problems: ["not_found"],
    async answer({ params: { number }, read }) {
      const record = await read.block(number);
      return record === undefined ? noSuchBlock : { record, cache: "immutable" };
    },
  }),
  route({
    path: "/api/v1/blocks/hash/{hash}",
    operationId: "getBlockByHash",
    tag: "Blocks",
    summary: "A block by its hash",
    params: z.strictObject({ hash: transactionHash }),
    query: noParameters,
    response: blockRecord,
    problems: ["not_found"],
    async answer({ params: { hash }, read }) {
      const record = await read.blockByHash(hash);
      return record === undefined ? noSuchBlock : { record, cache: "immutable" };
    },
  }),
  route({
    path: "/api/v1/blocks/{number}/transactions",
    operationId: "listBlockTransactions",
    tag: "Blocks",
    summary: "A block's transactions, last first",
    params: byNumber,
    query: pageQuery,
    response: listOf("Transactions", transactionRow),
    answer: async ({ params: { number }, query, read }) =>
      pageAnswer(await listBlockTransactions(read.db, number, query)),
  }),
  route({
    path: "/api/v1/blocks/{number}/consensus",
    operationId: "getBlockConsensus",
    tag: "Blocks",
    summary: "Who sealed a block, and whose turns to propose passed before it",
    params: byNumber,
    query: noParameters,
    response: consensusRecord,
    problems: ["not_found"],
    async answer({ params: { number }, read }) {
      const record = await read.blockConsensus(number);
      return record === undefined ? noSuchBlock : { record, cache: "consensus" };
    },
  }),
  route({
    path: "/api/v1/validators",
    operationId: "listValidators",
    tag: "Validators",
    summary: "Validators and what they did in the newest blocks",
    params: noParameters,
    query: noParameters,
    response: validatorsRecord,
    answer: async ({ read }) => ({ record: await read.validators(), cache: "head" }),
  }),
  route({
    path: "/api/v1/validators/ranking",
    operationId: "getValidatorRanking",
    tag: "Validators",
    summary: "Validators by their score",
    params: noParameters,
    query: noParameters,
    response: rankingRecord,
    answer: async ({ read }) => ({ record: await read.ranking(), cache: "head" }),
  }),
  route({
    path: "/api/v1/validators/{address}",
    operationId: "getValidator",
    tag: "Validators",
    summary: "One validator",
    params: z.strictObject({ address: accountAddress }),
    query: noParameters,
    response: validatorRecord,
    problems: ["not_found"],
    async answer({ params: { address }, read }) {
      const record = await read.validator(address);
      return record === undefined
        ? refusal("not_found", "This address does not validate, nor did it in the newest blocks")
        : { record, cache: "head" };
    },
  }),
  route({
    path: "/api/v1/stats/block-times",
    operationId: "getBlockTimes",
    tag: "Statistics",
    summary: "Seconds between the newest blocks",
    params: noParameters,
    query: blocks(1000),
    response: blockTimesRecord,
    answer: async ({ query, read }) => ({
      record: await readBlockTimes(read.db, query.blocks),
      cache: "head",
    }),
  }),
  route({
    path: "/api/v1/stats/gas",
    operationId: "getGasStatistics",
    tag: "Statistics",
    summary: "Gas of the newest blocks",
    params: noParameters,
    query: blocks(1000),
    response: gasRecord,
    answer: async ({ query, read }) => ({ record: await readGas(read.db, query.blocks), cache: "head" }),
  }),
  route({
    path: "/api/v1/stats/proposers",
    operationId: "getProposerStatistics",
    tag: "Statistics",
    summary: "How the newest blocks share out over their proposers",
    params: noParameters,
    query: blocks(43_200),
    response: proposersRecord,
    answer: async ({ query, read }) => ({
      record: await readProposers(read.db, query.blocks),
      cache: "head",
    }),
  }),
];
