import type { ChainBlock } from "./besu-blocks.ts";
import { type Answer, answered, besuErrors, refused } from "./besu-errors.ts";
import { isBlockHash, readBlockNumber, readStateBlock } from "./block-params.ts";
import type { BlockText } from "./block-text.ts";
import type { ChainView } from "./chain-view.ts";
import { hex, isObject, type JsonObject } from "./json.ts";
import { matchLogs, readLogFilter } from "./logs.ts";
import type { Mempool } from "./mempool.ts";
import type { SharedChain } from "./shared-chain.ts";

/** Answers one call. A method that needs anvil answers later. */
export type Handler = (params: unknown[]) => Answer | Promise<Answer>;
export type Handlers = Record<string, Handler>;

const logRangeMaxBlocks = 5_000;
const nothing: Answer = { result: "null" };

/** Blocks, transactions, receipts and logs, as far as this validator has them. */
export function createChainMethods({
  chain,
  view,
  pool,
  blockText,
}: {
  chain: SharedChain;
  view: ChainView;
  pool: Mempool;
  blockText: BlockText;
}): Handlers {
  const byHash = (hash: unknown) => (isBlockHash(hash) ? view.blockByHash(hash.toLowerCase()) : undefined);
  const byNumber = (param: unknown, answer: (block: ChainBlock | undefined) => Answer): Answer => {
    const read = readBlockNumber(param, view);
    return "error" in read ? refused(read.error) : answer(view.block(read.number));
  };
  const blockAnswer = (block: ChainBlock | undefined, whole: unknown): Answer =>
    block === undefined ? nothing : { result: blockText(block, whole === true ? "whole" : "hashes") };
  const countAnswer = (block: ChainBlock | undefined) =>
    answered(block === undefined ? null : hex(block.transactions.length));
  const transactionAt = (block: ChainBlock | undefined, index: unknown) =>
    answered(block?.transactions[Number(index)]?.json ?? null);

  function transactionByHash(param: unknown): Answer {
    const hash = String(param).toLowerCase();
    return answered(view.transaction(hash)?.transaction.json ?? pool.get(hash)?.json ?? null);
  }

  function transactionBySenderAndNonce(address: unknown, nonceParam: unknown): Answer {
    const sender = String(address).toLowerCase();
    const nonce = Number(nonceParam);
    const mined = chain.transactionOf(sender, nonce);
    const visible = mined === undefined ? undefined : view.transaction(mined.hash);
    return answered(visible?.transaction.json ?? pool.at(sender, nonce)?.json ?? null);
  }

  function receipt(param: unknown): Answer {
    const found = view.transaction(String(param).toLowerCase());
    return answered(found?.block.receipts[found.index] ?? null);
  }

  function blockReceipts(param: unknown): Answer {
    const read = readStateBlock(isBlockHash(param) ? { blockHash: param } : param, view);
    return "error" in read ? refused(read.error) : answered(view.block(read.number)?.receipts ?? null);
  }

  return {
    eth_blockNumber: () => answered(hex(view.height())),
    eth_getBlockByNumber: ([param, whole]) => byNumber(param, (block) => blockAnswer(block, whole)),
    eth_getBlockByHash: ([hash, whole]) => blockAnswer(byHash(hash), whole),
    eth_getBlockReceipts: ([param]) => blockReceipts(param),
    eth_getBlockTransactionCountByNumber: ([param]) => byNumber(param, countAnswer),
    eth_getBlockTransactionCountByHash: ([hash]) => countAnswer(byHash(hash)),
    eth_getTransactionByBlockNumberAndIndex: ([param, index]) =>
      byNumber(param, (block) => transactionAt(block, index)),
    eth_getTransactionByBlockHashAndIndex: ([hash, index]) => transactionAt(byHash(hash), index),
    eth_getTransactionByHash: ([hash]) => transactionByHash(hash),
    eth_getTransactionBySenderAndNonce: ([sender, nonce]) => transactionBySenderAndNonce(sender, nonce),
    eth_getTransactionReceipt: ([hash]) => receipt(hash),
    eth_getUncleCountByBlockNumber: ([param]) =>
      byNumber(param, (block) => answered(block === undefined ? null : "0x0")),
    eth_getUncleCountByBlockHash: ([hash]) => answered(byHash(hash) === undefined ? null : "0x0"),
    eth_getUncleByBlockNumberAndIndex: () => nothing,
    eth_getUncleByBlockHashAndIndex: () => nothing,
    eth_getLogs: ([criteria]) => readLogs(criteria, view),
  };
}

/** The logs that match, up to where this validator is; also what `eth_getFilterLogs` answers. */
export function readLogs(criteria: unknown, view: ChainView): Answer {
  if (!isObject(criteria)) return refused(besuErrors.invalidParams);
  const range = readRange(criteria, view);
  if ("error" in range) return refused(range.error);
  if (range.to < range.from || range.to - range.from > logRangeMaxBlocks)
    return refused(besuErrors.invalidParams);
  const filter = readLogFilter(criteria);
  const found: JsonObject[] = [];
  for (let number = range.from; number <= Math.min(range.to, view.height()); number += 1) {
    const block = view.block(number);
    if (block !== undefined) found.push(...matchLogs(block, filter));
  }
  return answered(found);
}

function readRange(criteria: JsonObject, view: ChainView) {
  if (criteria["blockHash"] !== undefined) {
    const read = readStateBlock({ blockHash: criteria["blockHash"] }, view);
    return "error" in read ? read : { from: read.number, to: read.number };
  }
  const from = readBlockNumber(criteria["fromBlock"], view);
  if ("error" in from) return from;
  const to = readBlockNumber(criteria["toBlock"], view);
  return "error" in to ? to : { from: from.number, to: to.number };
}
