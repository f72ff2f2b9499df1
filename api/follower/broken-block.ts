import type { IndexedBlock, IndexedReceipt } from "./indexed-records.ts";

/** What PostgreSQL's columns take; no real chain comes near. */
const bigintMax = 2n ** 63n - 1n;
const intMax = 2 ** 31 - 1;
const numericMax = 10n ** 78n - 1n;
/** EIP-2718: a transaction's type is one byte below 0x80. */
const typeMax = 0x7f;

/** Why a block and its receipts cannot be block `number` of a chain, or cannot be kept; undefined where they can. */
export function brokenBlock({
  number,
  block,
  receipts,
}: {
  number: number;
  block: IndexedBlock;
  receipts: readonly IndexedReceipt[];
}): string | undefined {
  if (block.number !== number) return `block ${block.number} was answered in its place`;
  if (block.gasUsed > bigintMax || block.gasLimit > bigintMax || block.size > intMax) {
    return "a number is too large";
  }
  if (block.transactions.length !== receipts.length) {
    return `${block.transactions.length} transactions have ${receipts.length} receipts`;
  }
  let lastLog = -1;
  for (const [index, transaction] of block.transactions.entries()) {
    const receipt = receipts[index];
    if (receipt === undefined) return "a receipt is missing";
    if (transaction.transactionIndex !== index || transaction.blockHash !== block.hash) {
      return `transaction ${index} is of another block`;
    }
    const isOfTransaction =
      receipt.transactionHash === transaction.hash &&
      receipt.blockHash === block.hash &&
      receipt.blockNumber === number &&
      receipt.transactionIndex === index;
    if (!isOfTransaction) return `receipt ${index} is not of its transaction`;
    if (
      transaction.type > typeMax ||
      receipt.gasUsed > bigintMax ||
      receipt.gasUsed * receipt.effectiveGasPrice > numericMax
    ) {
      return `a number of transaction ${index} is too large`;
    }
    for (const { logIndex } of receipt.logs) {
      if (logIndex <= lastLog || logIndex > intMax)
        return `the logs of transaction ${index} are out of order`;
      lastLog = logIndex;
    }
  }
  return undefined;
}
