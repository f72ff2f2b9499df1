import { encodeRlp, toBeHex } from "ethers/utils";
import { z } from "zod";
import { keccak256 } from "../chain/keccak256.ts";
import { recoverAddress } from "../chain/recover-address.ts";
import { decodeExtraData, type ExtraData, type ExtraDataPart, encodeExtraData } from "./extra-data.ts";

/** A header as a validator's `eth_getBlockByNumber` gives it, checked. Hex strings in lower case. */
export type BlockHeader = {
  number: number;
  hash: string;
  timestampSeconds: number;
  /** The validator that proposed it. */
  miner: string;
  extraData: ExtraData;
  /** All that is hashed, in order and as RLP writes it; `extraData` has its place at `extraDataIndex`. */
  fields: readonly string[];
};

/** The order of the yellow paper, then of EIP-1559, 4895, 4844 (two), 4788 and 7685. */
const fieldNames = [
  "parentHash",
  "sha3Uncles",
  "miner",
  "stateRoot",
  "transactionsRoot",
  "receiptsRoot",
  "logsBloom",
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "extraData",
  "mixHash",
  "nonce",
  "baseFeePerGas",
  "withdrawalsRoot",
  "blobGasUsed",
  "excessBlobGas",
  "parentBeaconBlockRoot",
  "requestsHash",
] as const;
const extraDataIndex = fieldNames.indexOf("extraData");

const bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .toLowerCase();
/** A number: RLP writes it without leading zeros, and 0 as no bytes at all. */
const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => (BigInt(text) === 0n ? "0x" : toBeHex(BigInt(text))));

const headerSchema = z.object({
  hash: bytes,
  parentHash: bytes,
  sha3Uncles: bytes,
  miner: bytes,
  stateRoot: bytes,
  transactionsRoot: bytes,
  receiptsRoot: bytes,
  logsBloom: bytes,
  extraData: bytes,
  mixHash: bytes,
  nonce: bytes,
  difficulty: quantity,
  number: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  // Present from the fork on that brought them.
  baseFeePerGas: quantity.optional(),
  withdrawalsRoot: bytes.optional(),
  blobGasUsed: quantity.optional(),
  excessBlobGas: quantity.optional(),
  parentBeaconBlockRoot: bytes.optional(),
  requestsHash: bytes.optional(),
});

/** Reads a block of JSON-RPC, or says why it is not the header of an IBFT 2.0 or QBFT block. */
export function readBlockHeader(json: unknown): { header: BlockHeader } | { problem: string } {
  const parsed = headerSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `the block's ${issue?.path.join(".") ?? "header"} cannot be read` };
  }
  const decoded = decodeExtraData(parsed.data.extraData);
  if ("problem" in decoded) return decoded;
  const { number, hash, timestamp, miner } = parsed.data;
  const fields = fieldNames.flatMap((name) => parsed.data[name] ?? []);
  return {
    header: {
      hash,
      miner,
      fields,
      extraData: decoded.extraData,
      number: Number(number === "0x" ? 0 : number),
      timestampSeconds: Number(timestamp),
    },
  };
}

type Hashed = Pick<BlockHeader, "number" | "fields" | "extraData">;

/**
 * The block's hash on the chain: it leaves out the seals and the round. The genesis block has no seals, so Besu hashes all
 * of it.
 */
export function blockHash(header: Hashed): string {
  return hashWith(header, header.number === 0 ? "all" : "without round and seals");
}

/** The digest that a validator signs as its commit seal. It includes the round. */
export function sealHash(header: Hashed): string {
  return hashWith(header, "without seals");
}

/**
 * The addresses that signed a header's seals, in lower case, whether they are validators or not. Each validator keeps the
 * seals that it saw, at least a quorum of them, so only all validators' headers of a block together name every sealer. A
 * seal that is not a signature counts for nobody.
 */
export function signersOf(header: Hashed): ReadonlySet<string> {
  const digest = sealHash(header);
  return new Set(header.extraData.seals.flatMap((seal) => signerOf(digest, seal) ?? []));
}

function hashWith({ fields, extraData }: Hashed, part: ExtraDataPart): string {
  const encoded = encodeRlp(fields.with(extraDataIndex, encodeExtraData(extraData, part)));
  return `0x${Buffer.from(keccak256(bytesOf(encoded))).toString("hex")}`;
}

/** The address that signed `digest` with a seal; undefined if the seal is not a signature. */
export function signerOf(digest: string, seal: string): string | undefined {
  return recoverAddress(bytesOf(digest), bytesOf(seal));
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
