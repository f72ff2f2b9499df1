import { z } from "zod";
import { feeSources } from "../../lib/fee-collector/fee-sources.ts";
import { address, amount, bytes, hash, integer, times } from "./values.ts";

export const chainRecord = z
  .strictObject({
    chainId: integer,
    chainIdHex: z.string(),
    name: z.string(),
    nativeCurrency: z.strictObject({ name: z.string(), symbol: z.string(), decimals: integer }),
    blockNumber: integer,
    blockHash: hash,
    ...times,
    genesisHash: hash,
    epoch: integer.meta({ description: "Counted up when a development chain is reset" }),
    consensus: z.enum(["ibft2", "qbft", "dev"]),
    blockTimeSeconds: integer.meta({ description: "As configured" }),
    averageBlockTimeSeconds: z
      .number()
      .nullable()
      .meta({ description: "Over the last 100 blocks; null while there are fewer than two" }),
    validatorCount: integer,
    quorum: integer.meta({
      description: "How many validators have to seal a block; 0 on a development chain",
    }),
    stalled: z.boolean(),
    gasPrice: amount,
    indexedBlock: integer.nullable(),
  })
  .meta({ id: "Chain" });
export type ChainRecord = z.output<typeof chainRecord>;

export const healthRecord = z
  .strictObject({
    status: z.enum(["ok", "degraded", "failing"]),
    checks: z.strictObject({
      chain: z.strictObject({ status: z.enum(["ok", "failing"]), blockNumber: integer.nullable() }),
      redis: z.strictObject({ status: z.enum(["ok", "failing"]) }),
      database: z.strictObject({ status: z.enum(["ok", "failing"]) }),
      index: z.strictObject({
        status: z.enum(["ok", "behind", "failing"]),
        indexedBlock: integer.nullable(),
        behindBlocks: integer.nullable(),
      }),
    }),
    version: z.string(),
  })
  .meta({ id: "Health" });
export type HealthRecord = z.output<typeof healthRecord>;

export const contractsRecord = z
  .strictObject({
    chainId: integer,
    data: z.array(
      z
        .strictObject({
          name: z.string(),
          address,
          deployedAtBlock: integer.nullable(),
          deployTransaction: hash.nullable(),
          codeHash: hash,
          abiUrl: z.string(),
        })
        .meta({ id: "NetworkContract" }),
    ),
  })
  .meta({ id: "NetworkContracts" });
export type ContractsRecord = z.output<typeof contractsRecord>;

export const burnsRecord = z
  .strictObject({
    policy: z.strictObject({ burnBps: integer, treasuryBps: integer }),
    token: z.strictObject({ name: z.string(), symbol: z.string(), decimals: integer }),
    contract: address.nullable().meta({ description: "Takes the fees; null where none are taken" }),
    burnSink: z
      .strictObject({
        address,
        code: bytes.nullable().meta({ description: "0x00 is STOP: nothing can be sent from there" }),
        balance: amount.nullable().meta({ description: "At `indexedBlock`" }),
      })
      .nullable()
      .meta({
        description: "Takes what is burned; code and balance are null while the chain does not answer",
      }),
    totals: z.strictObject({ payments: integer, amount, burned: amount, treasury: amount }),
    sources: z.array(
      z
        .strictObject({
          source: z.enum(feeSources),
          payments: integer,
          amount,
          burned: amount,
          treasury: amount,
          lastBlock: integer.nullable(),
        })
        .meta({ id: "BurnSource" }),
    ),
    byDay: z
      .array(z.strictObject({ date: z.iso.date(), burned: amount }))
      .meta({ description: "The last 30 days" }),
    indexedBlock: integer.nullable(),
  })
  .meta({ id: "Burns" });
export type BurnsRecord = z.output<typeof burnsRecord>;

export const burnEventRecord = z
  .strictObject({
    blockNumber: integer,
    logIndex: integer,
    transactionHash: hash,
    ...times,
    source: z.enum(feeSources),
    orderId: hash,
    payer: address.nullable().meta({ description: "Null where it came out of an order's deposit box" }),
    amount,
    burned: amount,
    treasury: amount,
  })
  .meta({ id: "BurnEvent" });
export type BurnEventRecord = z.output<typeof burnEventRecord>;

export const searchRecord = z
  .strictObject({
    q: z.string(),
    data: z.array(
      z
        .strictObject({
          kind: z.enum(["block", "transaction", "account", "contract", "validator"]),
          id: z.string(),
          title: z.string(),
          url: z.string(),
        })
        .meta({ id: "SearchResult" }),
    ),
  })
  .meta({ id: "Search" });
export type SearchRecord = z.output<typeof searchRecord>;
