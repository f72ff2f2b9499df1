import { keccak256 } from "ethers/crypto";
import { zeroPadValue } from "ethers/utils";
import { z } from "zod";
import { blockHash, readBlockHeader } from "../lib/ibft/block-header.ts";
import { emptyRoot, stateRoot } from "./state-root.ts";

/** keccak256(RLP([])): a block without uncles. */
const noUncles = keccak256("0xc0");
const noBloom = `0x${"00".repeat(256)}`;
/** EIP-1559's initial one, which Besu gives the genesis block also where zeroBaseFee makes all others free. */
const genesisBaseFee = "0x3b9aca00";
const zeroHash = `0x${"00".repeat(32)}`;

const hex = z.string().regex(/^(0x)?[0-9a-fA-F]*$/);
const amount = z
  .union([hex.startsWith("0x"), z.string().regex(/^\d+$/)])
  .transform((text) => BigInt(text === "0x" ? "0x0" : text));

/** The parts of a genesis file that make its block. Blocks of other forks have other header fields. */
const genesisSchema = z.object({
  config: z.object({
    londonBlock: z.literal(0),
    shanghaiTime: z.literal(0),
    cancunTime: z.literal(0),
    zeroBaseFee: z.literal(true),
  }),
  nonce: hex,
  timestamp: hex,
  gasLimit: hex,
  difficulty: hex,
  mixHash: hex,
  extraData: hex,
  coinbase: hex.default(`0x${"00".repeat(20)}`),
  alloc: z.record(
    hex,
    z.strictObject({
      balance: amount.default(0n),
      nonce: amount.default(0n),
      code: hex.default("0x"),
    }),
  ),
});

/**
 * The block that a genesis file stands for, in the fields of JSON-RPC; undefined where the file is of another kind than
 * ours (other forks, a base fee, storage of contracts, an account twice). By its hash gateways know the network.
 */
export function genesisBlock(genesis: unknown) {
  const parsed = genesisSchema.safeParse(genesis);
  if (!parsed.success) return undefined;
  const { alloc, nonce, coinbase, difficulty, gasLimit, timestamp, mixHash, extraData } = parsed.data;
  const accounts = Object.entries(alloc).map(([key, { balance, nonce, code }]) => ({
    address: key.startsWith("0x") ? key.toLowerCase() : `0x${key.toLowerCase()}`,
    balanceWei: balance,
    nonce,
    code,
  }));
  if (new Set(accounts.map(({ address }) => address)).size < accounts.length) return undefined;
  const block = {
    hash: zeroHash,
    parentHash: zeroHash,
    sha3Uncles: noUncles,
    miner: coinbase,
    stateRoot: stateRoot(accounts),
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: noBloom,
    difficulty,
    number: "0x0",
    gasLimit,
    gasUsed: "0x0",
    timestamp,
    extraData,
    mixHash,
    nonce: zeroPadValue(evenDigits(nonce), 8),
    baseFeePerGas: genesisBaseFee,
    withdrawalsRoot: emptyRoot,
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    parentBeaconBlockRoot: zeroHash,
  };
  const read = readBlockHeader(block);
  return "header" in read ? { ...block, hash: blockHash(read.header) } : undefined;
}

function evenDigits(text: string): string {
  return text.length % 2 === 0 ? text : `0x0${text.slice(2)}`;
}
