import { id } from "ethers/hash";
import type { RpcLog } from "./rpc-records.ts";

/** One movement of tokens that a log tells of; addresses in lower case. */
export type TokenTransfer = {
  logIndex: number;
  /** Which item of a batch; 0 elsewhere. */
  item: number;
  token: string;
  kind: "erc20" | "erc721" | "erc1155";
  from: string;
  to: string;
  /** Undefined for an item of ERC-721. */
  value: bigint | undefined;
  /** Undefined for ERC-20. */
  tokenId: bigint | undefined;
};

const transferTopic = id("Transfer(address,address,uint256)");
const singleTopic = id("TransferSingle(address,address,address,uint256,uint256)");
const batchTopic = id("TransferBatch(address,address,address,uint256[],uint256[])");
const wordDigits = 64;
/** Items of one batch that are kept; a contract may write any number. */
const itemsMax = 1000;

/**
 * Transfers of ERC-20, ERC-721 and ERC-1155. Which standard a Transfer is of shows in what is indexed. Any contract can
 * write a log that looks like one, so what this says of balances is what the contract says, no more; a log that only
 * begins like one is none.
 */
export function tokenTransfersOf(log: RpcLog): TokenTransfer[] {
  const { topics, data, logIndex, address: token } = log;
  const [topic, first, second, third] = topics;
  const words = wordsOf(data);
  if (topic === transferTopic && first !== undefined && second !== undefined) {
    const from = addressOf(first);
    const to = addressOf(second);
    if (from === undefined || to === undefined) return [];
    if (third !== undefined && words.length === 0) {
      return [
        { logIndex, item: 0, token, kind: "erc721", from, to, value: undefined, tokenId: BigInt(third) },
      ];
    }
    const [value] = words;
    if (third !== undefined || value === undefined || words.length !== 1) return [];
    return [{ logIndex, item: 0, token, kind: "erc20", from, to, value, tokenId: undefined }];
  }
  if ((topic !== singleTopic && topic !== batchTopic) || second === undefined || third === undefined)
    return [];
  const from = addressOf(second);
  const to = addressOf(third);
  if (from === undefined || to === undefined) return [];
  const moved = topic === singleTopic ? singleOf(words) : batchOf(words);
  return moved.map(({ tokenId, value }, item) => ({
    ...{ logIndex, item, token, kind: "erc1155", from, to },
    value,
    tokenId,
  }));
}

function singleOf(words: readonly bigint[]) {
  const [tokenId, value] = words;
  return tokenId === undefined || value === undefined || words.length !== 2 ? [] : [{ tokenId, value }];
}

/** Two arrays of the contract ABI: their offsets, then each with its length before it. */
function batchOf(words: readonly bigint[]) {
  const ids = arrayAt(words, words[0]);
  const values = arrayAt(words, words[1]);
  if (ids === undefined || values === undefined || ids.length !== values.length) return [];
  return ids.slice(0, itemsMax).map((tokenId, index) => ({ tokenId, value: values[index] ?? 0n }));
}

function arrayAt(words: readonly bigint[], offset: bigint | undefined): readonly bigint[] | undefined {
  if (offset === undefined || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return undefined;
  const at = Number(offset / 32n);
  const length = words[at];
  if (length === undefined || length > BigInt(words.length - at - 1)) return undefined;
  return words.slice(at + 1, at + 1 + Number(length));
}

function wordsOf(data: string): bigint[] {
  if ((data.length - 2) % wordDigits !== 0) return [];
  const words: bigint[] = [];
  for (let at = 2; at < data.length; at += wordDigits)
    words.push(BigInt(`0x${data.slice(at, at + wordDigits)}`));
  return words;
}

/** An address in a word: its first twelve bytes are zero. */
function addressOf(word: string): string | undefined {
  return word.startsWith(`0x${"0".repeat(24)}`) ? `0x${word.slice(26)}` : undefined;
}
