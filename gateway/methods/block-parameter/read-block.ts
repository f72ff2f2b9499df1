import type { ByteText } from "../../json-rpc/answer.ts";

/**
 * What a block parameter names: a number; "latest", which also `null` means, and `safe` and `finalized` where blocks are
 * final at once; "pending"; a hash; or something that we cannot read.
 */
export type NamedBlock = number | "latest" | "missing" | "pending" | "hash" | "unreadable";

/** An object of EIP-1898 takes 130 characters. One of a megabyte would take 50 ms to read. */
const charsMax = 1024;

/** Reads a block parameter from its JSON text: a string, a number, or an object of EIP-1898. */
export function readBlock(text: ByteText): NamedBlock {
  if (text === '"latest"') return "latest";
  if (text.length > charsMax) return "unreadable";
  switch (text.charCodeAt(0)) {
    case 0x22: // "
      return readString(text.includes("\\") ? decode(text) : text.slice(1, -1));
    case 0x6e: // null
      return "missing";
    case 0x7b: // {
      return readObject(decode(text));
    default:
      return /^\d{1,15}$/.test(text) ? Number(text) : "unreadable";
  }
}

/** A number as validators take it: Besu allows zeros in front. Above what a double holds exactly there is no block. */
const numberPattern = /^0x[0-9a-f]{1,16}$/i;
const hashPattern = /^0x[0-9a-f]{64}$/i;

function readString(value: unknown): NamedBlock {
  if (typeof value !== "string") return "unreadable";
  if (numberPattern.test(value)) {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : "unreadable";
  }
  if (hashPattern.test(value)) return "hash";
  // Besu does not mind the case of tags.
  switch (value.toLowerCase()) {
    case "latest":
    case "safe":
    case "finalized":
      return "latest";
    case "earliest":
      return 0;
    case "pending":
      return "pending";
    default:
      return "unreadable";
  }
}

function readObject(value: unknown): NamedBlock {
  if (typeof value !== "object" || value === null) return "unreadable";
  const { blockHash, blockNumber }: Readonly<Record<string, unknown>> = { ...value };
  if ((blockHash === undefined) === (blockNumber === undefined)) return "unreadable";
  const named = readString(blockHash ?? blockNumber);
  // The object goes to the validator as it is, so a tag inside it would mean that validator's own latest block.
  return named === "hash" || typeof named === "number" ? named : "unreadable";
}

function decode(text: ByteText): unknown {
  return JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
}
