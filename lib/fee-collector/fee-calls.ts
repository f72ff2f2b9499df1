import { feeCollectorInterface } from "./artifacts.ts";
import { type FeeOrder, orderOnChain } from "./fee-order.ts";

export type SignedOrder = { order: FeeOrder; signature: string };

/** The transaction's data that pays an order; its value is the order's amount. */
export function payCall({ order, signature }: SignedOrder): string {
  return feeCollectorInterface.encodeFunctionData("pay", [orderOnChain(order), signature]);
}

/** The transaction's data that passes on what lies in an order's deposit box. Anybody may send it, without value. */
export function collectCall({ order, signature }: SignedOrder): string {
  return feeCollectorInterface.encodeFunctionData("collect", [orderOnChain(order), signature]);
}
