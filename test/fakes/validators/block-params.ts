import { besuErrors, type RpcError } from "./besu-errors.ts";
import type { ChainView } from "./chain-view.ts";
import { isObject } from "./json.ts";

/** A block that a parameter named: its number, which this validator may not have yet, or why there is none. */
export type BlockParam = { number: number } | { error: RpcError };

/** Number or tag, as `eth_getBlockByNumber` takes it. What is missing means `latest`. */
export function readBlockNumber(param: unknown, view: ChainView): BlockParam {
  switch (param) {
    case undefined:
    case null:
    case "latest":
    case "pending": // IBFT makes no pending block of its own: Besu answers with the latest
      return { number: view.height() };
    case "earliest":
      return { number: 0 };
    case "finalized":
    case "safe":
      return { error: besuErrors.unknownBlock };
  }
  const given = typeof param === "number" || (typeof param === "string" && /^0x[0-9a-fA-F]+$/.test(param));
  const number = given ? Number(param) : Number.NaN;
  // Besu refuses a number that is a decimal string, and takes one that is a JSON number.
  return Number.isSafeInteger(number) && number >= 0 ? { number } : { error: besuErrors.invalidBlockNumber };
}

/** Number, tag or EIP-1898 object, as the questions about state take it; the block is one that this validator has. */
export function readStateBlock(param: unknown, view: ChainView): BlockParam {
  if (isObject(param) && param["blockNumber"] === undefined) return readBlockHash(param["blockHash"], view);
  const read = readBlockNumber(isObject(param) ? param["blockNumber"] : param, view);
  if ("error" in read) return read;
  return read.number > view.height() ? { error: besuErrors.blockParamNotFound } : read;
}

/** A block hash, also where a number or tag could stand (`eth_getBlockReceipts`). */
export function isBlockHash(param: unknown): param is string {
  return typeof param === "string" && /^0x[0-9a-fA-F]{64}$/.test(param);
}

function readBlockHash(hash: unknown, view: ChainView): BlockParam {
  if (!isBlockHash(hash)) return { error: besuErrors.invalidBlockHash };
  const block = view.blockByHash(hash.toLowerCase());
  return block === undefined ? { error: besuErrors.blockNotFound } : { number: block.number };
}
