import { type BlockHeader, ChainEvidenceError } from "./block-headers.ts";
import { receivedBy } from "./box-arrivals.ts";
import type { PlacedFeeEvent } from "./fee-events.ts";
import { type InvoiceState, invoiceState } from "./invoice-state.ts";

/** An order as it is booked before a range. Amounts in wei, times in Unix seconds, hex in lower case. */
export type BookedOrder = {
  orderId: string;
  id: string;
  source: string;
  payee: string | null;
  amount: bigint;
  fee: bigint;
  validUntil: number;
  isPaid: boolean;
  invoice:
    | {
        received: bigint;
        receivedInTime: bigint;
        booked: bigint;
        expiresAt: number;
        isCanceled: boolean;
        paidAt: number | null;
      }
    | undefined;
};

/** What was seen of an order: an event, or what had arrived in its box after a block. */
export type Sighting =
  | { event: PlacedFeeEvent }
  | { block: BlockHeader; receivedAfter: bigint; txHash: string | null; payer: string | null };

export type Payment = {
  orderId: string;
  way: "contract" | "box";
  amount: bigint;
  receivedAfter: bigint;
  inTime: boolean;
  block: BlockHeader;
  txHash: string | null;
  logIndex: number | null;
  payer: string | null;
};

export type OrderBooking = {
  payments: Payment[];
  /** The payment that made the amount complete, where one did. */
  completedBy: Payment | undefined;
  invoice: (NonNullable<BookedOrder["invoice"]> & { orderId: string; state: InvoiceState }) | undefined;
  /** Events that are not what the order says: none of them is booked. */
  mismatches: { event: PlacedFeeEvent; why: string }[];
};

/**
 * Books what was seen of one order in a range. Each sighting says what had arrived in all by then, so what was booked
 * before, or is seen twice, adds nothing.
 *
 * @throws ChainEvidenceError where a sighting takes away what had arrived.
 */
export function bookOrder(
  order: BookedOrder,
  sightings: readonly Sighting[],
  { newestBlockAt }: { newestBlockAt: number },
): OrderBooking {
  const { orderId, invoice } = order;
  const endsAt = invoice?.expiresAt ?? order.validUntil;
  const booking: OrderBooking = { payments: [], completedBy: undefined, invoice: undefined, mismatches: [] };
  let received = invoice?.received ?? (order.isPaid ? order.amount : 0n);
  let receivedInTime = invoice?.receivedInTime ?? 0n;
  let booked = invoice?.booked ?? received;
  let paidAt = invoice?.paidAt ?? null;

  for (const sighting of inOrder(sightings)) {
    const seen = "event" in sighting ? ofEvent(sighting.event) : ofBox(sighting);
    if ("event" in sighting) {
      const why = mismatchOf(order, sighting.event);
      if (why !== undefined) {
        booking.mismatches.push({ event: sighting.event, why });
        continue;
      }
      if (seen.receivedAfter < received) {
        throw new ChainEvidenceError(
          `of ${received} wei for order ${orderId} ${seen.receivedAfter} are left`,
        );
      }
      booked = seen.receivedAfter;
    }
    if (seen.receivedAfter <= received) continue;
    const inTime = seen.block.timestamp <= endsAt;
    const payment: Payment = { ...seen, orderId, amount: seen.receivedAfter - received, inTime };
    booking.payments.push(payment);
    if (received < order.amount && seen.receivedAfter >= order.amount) {
      booking.completedBy = payment;
      paidAt = seen.block.timestamp;
    }
    received = seen.receivedAfter;
    if (inTime) receivedInTime = received;
  }
  if (invoice !== undefined) {
    const { isCanceled } = invoice;
    const isExpired = newestBlockAt > endsAt;
    const state = invoiceState({ amount: order.amount, received, receivedInTime, isExpired, isCanceled });
    booking.invoice = { ...invoice, orderId, received, receivedInTime, booked, paidAt, state };
  }
  return booking;
}

/** By block; what lay in a box counts after the block's events. */
function inOrder(sightings: readonly Sighting[]): Sighting[] {
  const placeOf = (sighting: Sighting): [number, number] =>
    "event" in sighting
      ? [sighting.event.block.number, sighting.event.logIndex]
      : [sighting.block.number, Number.MAX_SAFE_INTEGER];
  return sightings.toSorted((one, other) => {
    const [[block, index], [otherBlock, otherIndex]] = [placeOf(one), placeOf(other)];
    return block - otherBlock || index - otherIndex;
  });
}

type Seen = Omit<Payment, "orderId" | "amount" | "inTime">;

function ofEvent(event: PlacedFeeEvent): Seen {
  const { block, txHash, logIndex } = event;
  const receivedAfter = receivedBy(event);
  if (event.kind === "paid") {
    return { way: "contract", receivedAfter, block, txHash, logIndex, payer: event.payer.toLowerCase() };
  }
  // Its transaction emptied the box; it is not the one that paid.
  return { way: "box", receivedAfter, block, txHash: null, logIndex: null, payer: null };
}

function ofBox({ block, receivedAfter, txHash, payer }: Exclude<Sighting, { event: unknown }>): Seen {
  return { way: "box", receivedAfter, block, txHash, logIndex: null, payer };
}

/** Why an event is not of this order; undefined where it is. */
function mismatchOf(order: BookedOrder, event: PlacedFeeEvent): string | undefined {
  const { payee } = event;
  if (event.source !== order.source) return `its source is ${event.source}, not ${order.source}`;
  if (payee !== order.payee) return `it pays ${payee ?? "nobody"}, not ${order.payee ?? "nobody"}`;
  if (event.kind === "collected") {
    return event.fee > order.fee ? `its fee is ${event.fee} wei, above ${order.fee}` : undefined;
  }
  if (event.amount !== order.amount) return `it pays ${event.amount} wei, not ${order.amount}`;
  return event.fee === order.fee ? undefined : `its fee is ${event.fee} wei, not ${order.fee}`;
}
