import fc from "fast-check";
import t from "tap";
import type { BlockHeader } from "../../../../api/merchant/ledger/block-headers.ts";
import {
  type BookedOrder,
  bookOrder,
  type Payment,
  type Sighting,
} from "../../../../api/merchant/ledger/book-order.ts";
import { invoiceState } from "../../../../api/merchant/ledger/invoice-state.ts";
import "../../../helpers/property-seed.ts";

const amount = 100n;
const expiresAt = 50;

const open: BookedOrder = {
  orderId: "order",
  id: "0x01",
  source: "payments",
  payee: `0x${"aa".repeat(20)}`,
  amount,
  fee: 10n,
  validUntil: expiresAt,
  isPaid: false,
  invoice: {
    ...{ received: 0n, receivedInTime: 0n, booked: 0n, expiresAt, isCanceled: false, paidAt: null },
  },
};

/** Blocks come one a second. */
const blockAt = (number: number): BlockHeader => ({
  ...{ number, timestamp: number, hash: `0x${number}`, parentHash: `0x${number - 1}`, extraData: "0x" },
});

/** Books the sightings in ranges that end after the given blocks. */
function bookInRanges(sightings: readonly Sighting[], ends: readonly number[]) {
  let order = open;
  const payments: Payment[] = [];
  let begin = 0;
  for (const end of [...ends, 101]) {
    const range = sightings.filter((sighting) => {
      const { number } = "event" in sighting ? sighting.event.block : sighting.block;
      return number >= begin && number < end;
    });
    const booking = bookOrder(order, range, { newestBlockAt: end - 1 });
    payments.push(...booking.payments);
    const { invoice } = booking;
    if (invoice !== undefined) {
      order = { ...order, isPaid: order.isPaid || booking.completedBy !== undefined, invoice };
    }
    begin = end;
  }
  return { order, payments };
}

const arrivals = fc
  .array(fc.record({ block: fc.nat(100), wei: fc.bigInt(1n, 80n), passesOn: fc.boolean() }), { maxLength: 8 })
  .map((drawn) => {
    let received = 0n;
    return drawn
      .toSorted((one, other) => one.block - other.block)
      .map(({ block, wei, passesOn }, index): Sighting => {
        received += wei;
        const shares = { id: open.id, source: open.source, payee: open.payee, fee: 0n, burned: 0n };
        const place = { block: blockAt(block), txHash: "0x", logIndex: index };
        return passesOn
          ? { event: { kind: "collected", ...shares, ...place, amount: wei, received } }
          : { block: blockAt(block), receivedAfter: received, txHash: null, payer: null };
      });
  });
const cuts = fc.uniqueArray(fc.nat(100), { maxLength: 10 }).map((list) => list.toSorted((a, b) => a - b));

t.test("however blocks are cut into ranges, and whatever is seen again, the same has arrived", async (t) => {
  fc.assert(
    fc.property(arrivals, cuts, cuts, (sightings, ends, others) => {
      const one = bookInRanges(sightings, ends);
      const other = bookInRanges(
        sightings.flatMap((sighting) => [sighting, sighting]),
        others,
      );
      const total = (payments: readonly Payment[], counts: (payment: Payment) => boolean) =>
        payments.filter(counts).reduce((sum, payment) => sum + payment.amount, 0n);
      for (const { order, payments } of [one, other]) {
        if (total(payments, () => true) !== order.invoice?.received) return false;
        if (total(payments, ({ inTime }) => inTime) !== order.invoice.receivedInTime) return false;
        const atEnd = order.invoice.received >= amount;
        if (order.isPaid !== atEnd || (order.invoice.paidAt !== null) !== atEnd) return false;
      }
      return (
        one.order.invoice?.received === other.order.invoice?.received &&
        one.order.invoice?.receivedInTime === other.order.invoice?.receivedInTime &&
        one.order.invoice?.paidAt === other.order.invoice?.paidAt
      );
    }),
    { numRuns: 500 },
  );
  t.pass();
});

t.test("a state never hides money, and is paid exactly where the amount is complete", async (t) => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 200n),
      fc.bigInt(0n, 200n),
      fc.boolean(),
      fc.boolean(),
      (received, part, isExpired, isCanceled) => {
        const receivedInTime = part % (received + 1n);
        const state = invoiceState({ amount, received, receivedInTime, isExpired, isCanceled });
        const isComplete = ["paid", "overpaid", "paid_late"].includes(state);
        const isEmpty = ["open", "expired", "canceled"].includes(state);
        if (isComplete !== received >= amount || isEmpty !== (received === 0n)) return false;
        if (state === "paid_late") return isCanceled || receivedInTime < amount;
        if (state === "open") return !isExpired && !isCanceled;
        return state !== "overpaid" || received > amount;
      },
    ),
    { numRuns: 1000 },
  );
  t.pass();
});

t.test("what takes away what had arrived is no evidence", async (t) => {
  const seen = (receivedAfter: bigint, block: number): Sighting => ({
    ...{ block: blockAt(block), receivedAfter, txHash: null, payer: null },
  });
  const shares = { id: open.id, source: open.source, payee: open.payee, fee: 0n, burned: 0n };
  const passedOn: Sighting = {
    event: {
      ...{ kind: "collected", ...shares, amount: 5n, received: 5n },
      ...{ block: blockAt(2), txHash: "0x", logIndex: 0 },
    },
  };
  t.throws(() => bookOrder(open, [seen(6n, 1), passedOn], { newestBlockAt: 3 }), { message: /are left/ });
  t.equal(bookOrder(open, [seen(5n, 1), passedOn], { newestBlockAt: 3 }).payments.length, 1);
});
