import { feeCollectorInterface } from "../../../lib/fee-collector/artifacts.ts";
import { payCall } from "../../../lib/fee-collector/fee-calls.ts";
import type { Refusal } from "../../../lib/http-service/refusal.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { noPayment } from "./outcome.ts";
import { findPayableBox, findPayableOrder, type PayableBox, type PayableOrder } from "./payable-orders.ts";

/** What a transaction would do. Hex in lower case; `to` is undefined where it makes a contract. */
export type Payment = { to: string | undefined; value: bigint; data: string };

export type PaymentJudge = {
  /** Why it is no payment that is waited for; undefined where it is one. */
  payment(payment: Payment): Promise<Refusal | undefined>;
  /** Why a contract is none that a payment goes to. */
  target(to: string | undefined): Promise<Refusal | undefined>;
};

const paySelector = feeCollectorInterface.getFunction("pay")?.selector ?? "";
/** Hex digits of a word of 32 bytes; the order's `ref` is the first behind the selector, since its struct is static. */
const wordDigits = 64;

/**
 * Whether a transaction pays: the FeeCollector by `pay` with an order that is open here, as it was signed, or an invoice's
 * deposit box while money is waited for there. An invoice that is complete or cancelled takes no more: who pays twice by
 * mistake is told, not thanked.
 */
export function createPaymentJudge({
  db,
  feeCollector,
  headTime,
}: {
  db: Pick<Queryable, "query">;
  feeCollector: string;
  /** The newest block's, in Unix seconds; undefined while it is not known. */
  headTime: () => number | undefined;
}): PaymentJudge {
  const collector = feeCollector.toLowerCase();

  async function byContract({ value, data }: Payment): Promise<Refusal | undefined> {
    const refEnd = paySelector.length + wordDigits;
    if (!data.startsWith(paySelector) || data.length < refEnd) return otherFunction;
    const order = await findPayableOrder(db, `0x${data.slice(paySelector.length, refEnd)}`);
    if (order === undefined || order.feeCollector.toLowerCase() !== collector) return unknownOrder;
    if (data !== payCall({ order: order.terms, signature: order.signature })) return changedOrder;
    return whyNotOpen(order, headTime()) ?? whyNotAmount(order, value);
  }

  async function toBox(to: string, { data }: Payment): Promise<Refusal | undefined> {
    const box = await findPayableBox(db, to);
    if (box === undefined) return otherReceiver;
    if (data !== "0x") return withData;
    return whyNotWaiting(box);
  }

  return {
    async payment(payment) {
      const { to } = payment;
      if (to === undefined) return creation;
      return to === collector ? byContract(payment) : toBox(to, payment);
    },

    async target(to) {
      if (to === undefined) return creation;
      if (to === collector) return undefined;
      const box = await findPayableBox(db, to);
      return box === undefined ? otherReceiver : whyNotWaiting(box);
    },
  };
}

function whyNotOpen(
  { paidAt, invoice, terms }: PayableOrder,
  headTime: number | undefined,
): Refusal | undefined {
  if (paidAt !== null || (invoice !== undefined && isComplete(invoice))) return paid;
  if (invoice?.state === "canceled") return canceled;
  if (invoice !== undefined && invoice.received > 0n) return begun(invoice.box);
  return headTime !== undefined && headTime > terms.validUntil ? expired : undefined;
}

function whyNotAmount({ terms: { amount } }: PayableOrder, value: bigint): Refusal | undefined {
  return value === amount ? undefined : noPayment(`The order takes exactly ${amount} wei, not ${value}`);
}

function whyNotWaiting(box: PayableBox): Refusal | undefined {
  if (!box.isWatched) return unwatched;
  if (isComplete(box)) return paid;
  return box.state === "canceled" ? canceled : undefined;
}

function isComplete({ state }: { state: string }): boolean {
  return state === "paid" || state === "overpaid" || state === "paid_late";
}

function begun(box: string): Refusal {
  return noPayment(`A part of this invoice has arrived; send the rest to its deposit address ${box}`);
}

const creation = noPayment("A transaction without a receiver makes a contract");
const otherReceiver = noPayment(
  "The receiver is no deposit address and not the contract that takes payments",
);
const otherFunction = noPayment("Of the contract that takes payments only pay is called here");
const unknownOrder = noPayment("The order is none of this site's");
const changedOrder = noPayment("The order was changed; send its transaction as it is");
const withData = noPayment("A deposit address takes plain transfers, without data");
const paid = noPayment("This is paid already; nothing more is due");
const canceled = noPayment("The merchant has cancelled this invoice; do not pay it");
const unwatched = noPayment(
  "This deposit address is not watched any more, so nobody would see the money; ask the merchant",
);
const expired = noPayment("The time to pay this order is over");
