import { createHash } from "node:crypto";
import type { ChainBlock } from "./besu-blocks.ts";
import { answered } from "./besu-errors.ts";
import { readBlockNumber } from "./block-params.ts";
import type { BlockText } from "./block-text.ts";
import type { Handlers } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import { hex } from "./json.ts";

const foreignBlocks = new WeakMap<ChainBlock, ChainBlock>();

/** The same block on another chain: same number, every hash another one, nothing in it. */
export function foreignBlock(block: ChainBlock): ChainBlock {
  const known = foreignBlocks.get(block);
  if (known !== undefined) return known;
  const hash = foreignHash(block.hash);
  const parentHash = block.number === 0 ? block.parentHash : foreignHash(block.parentHash);
  const json = { ...block.json, hash, parentHash };
  const foreign = { ...block, hash, parentHash, json, transactions: [], receipts: [], logs: [] };
  foreignBlocks.set(block, foreign);
  return foreign;
}

/**
 * What a node of another chain answers in place of the usual: recognizable in every answer, so that a test sees
 * where one was believed. (`0xbad0` is a balance, a nonce, a code and a call's result.)
 */
export function createForeignMethods({
  view,
  blockText,
  chainId,
}: {
  view: ChainView;
  blockText: BlockText;
  chainId: number;
}): Handlers {
  const form = (whole: unknown) => (whole === true ? "whole" : "hashes");
  const bad = answered("0xbad0");
  const nothing = answered(null);

  return {
    eth_chainId: () => answered(hex(chainId)),
    net_version: () => answered(String(chainId)),
    eth_getBlockByNumber: ([param, whole]) => {
      const read = readBlockNumber(param, view);
      const block = "number" in read ? view.block(read.number) : undefined;
      return block === undefined ? nothing : { result: blockText(foreignBlock(block), form(whole)) };
    },
    eth_getBlockByHash: () => nothing,
    eth_getTransactionByHash: () => nothing,
    eth_getTransactionReceipt: () => nothing,
    eth_getLogs: () => answered([]),
    eth_getBalance: () => bad,
    eth_getCode: () => bad,
    eth_getTransactionCount: () => bad,
    eth_getStorageAt: () => bad,
    eth_call: () => bad,
    eth_estimateGas: () => bad,
  };
}

function foreignHash(hash: string): string {
  return `0x${createHash("sha256").update(hash).digest("hex")}`;
}
