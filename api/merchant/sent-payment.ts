import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { feeCollectorInterface } from "../../lib/fee-collector/artifacts.ts";
import type { ReadModel } from "../read/read-model.ts";

/** How a payment stands that a page was told of by its transaction's hash. */
export type SentPayment =
  | { state: "none" }
  | { state: "unknown" | "sent" | "away"; hash: string }
  | { state: "mined"; hash: string; blockNumber: number | null }
  /** `error`: the name of the contract's own error. */
  | { state: "reverted"; hash: string; error: string | undefined };

export const noPayment: SentPayment = { state: "none" };

/** Looks a payment up. A link can name any transaction: `isOurs` says which would pay what the page is about. */
export async function findSentPayment(
  { read }: { read: Pick<ReadModel, "transaction"> },
  { hash, isOurs }: { hash: string; isOurs: (call: { to: string | null; input: string }) => boolean },
): Promise<SentPayment> {
  try {
    const transaction = await read.transaction(hash);
    if (transaction === undefined) return { state: "unknown", hash };
    if (!isOurs(transaction)) return noPayment;
    if (transaction.receipt === null) return { state: "sent", hash };
    if (transaction.receipt.status === "success") {
      const { blockNumber } = transaction;
      return { state: "mined", hash, blockNumber };
    }
    const { revert } = transaction;
    return { state: "reverted", hash, error: revert?.error?.name ?? errorName(revert?.raw) };
  } catch (error) {
    // That the chain is away is no reason to show nothing of what is to be paid.
    if (!(error instanceof ChainUnavailableError)) throw error;
    return { state: "away", hash };
  }
}

/** 0x and four bytes. */
const selectorChars = 10;

/** Of the contract's own errors; undefined where the bytes are none. */
function errorName(raw: string | null | undefined): string | undefined {
  return raw === null || raw === undefined
    ? undefined
    : feeCollectorInterface.getError(raw.slice(0, selectorChars))?.name;
}
