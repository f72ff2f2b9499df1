import { ChainUnavailableError } from "../../../lib/chain/rpc-client.ts";
import { revertReason } from "../../../lib/fee-collector/revert-reason.ts";
import type { ChainReader } from "../../chain/chain-reader.ts";
import type { Order } from "./order.ts";

/** What a transaction that should have paid an order did; `isFinal` where waiting for it is no use. */
export type PaymentNews = { text: string; isFinal: boolean };

const onItsWay: PaymentNews = { text: "The transaction is not mined yet; ask again shortly", isFinal: false };
const seen: PaymentNews = { text: "The payment is being booked; ask again shortly", isFinal: false };
const other: PaymentNews = {
  text: "This transaction does not pay this order: send the order's own transaction",
  isFinal: true,
};

/** What became of the transaction that a client names as its payment. */
export async function explainTransaction({
  reader,
  hash,
  order: { feeCollector },
}: {
  reader: Pick<ChainReader, "transaction" | "call">;
  hash: string;
  order: Pick<Order, "feeCollector">;
}): Promise<PaymentNews> {
  const found = await reader.transaction(hash);
  if (found?.receipt === undefined) return onItsWay;
  const { transaction, receipt } = found;
  // A contract wallet pays by a transaction to itself: of one that succeeded only the ledger knows what it paid.
  if (receipt.status === 1) return seen;
  if (transaction.to?.toLowerCase() !== feeCollector.toLowerCase()) return other;
  const reason = await whyReverted({ reader, transaction, blockNumber: receipt.blockNumber });
  return { text: `The transaction was reverted, and nothing was paid. ${reason ?? noReason}`, isFinal: true };
}

const noReason = "The contract's reason is not known any more: look at the transaction in the explorer";

/** Runs it again: on its own block, where a payment before it in the same block is seen, which is why most are refused. */
async function whyReverted({
  reader,
  transaction: { from, to, input, value, gas },
  blockNumber,
}: {
  reader: Pick<ChainReader, "call">;
  transaction: { from: string; to: string | null; input: string; value: bigint; gas: bigint };
  blockNumber: number;
}): Promise<string | undefined> {
  try {
    const outcome = await reader.call({ from, to, data: input, value, gas }, blockNumber);
    return "reverted" in outcome && outcome.reverted !== undefined
      ? revertReason(outcome.reverted)
      : undefined;
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}
