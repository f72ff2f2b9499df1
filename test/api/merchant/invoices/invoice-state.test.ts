import fc from "fast-check";
import t from "tap";
import "../../../helpers/property-seed.ts";
import { bookOrder, type Sighting } from "../../../../api/merchant/ledger/book-order.ts";
import { invoiceState } from "../../../../api/merchant/ledger/invoice-state.ts";

const amount = 1000n;
const expiresAt = 500;
const blockOf = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, "0")}`,
  parentHash: "0x",
  extraData: "0x",
  timestamp: number,
});
/** What arrived, block by block. */
const arrivals = fc.array(
  fc.record({ block: fc.integer({ min: 1, max: 1000 }), amount: fc.bigInt({ min: 1n, max: 1500n }) }),
  { maxLength: 8 },
);

function book(sightings: readonly Sighting[], isCanceled: boolean, newestBlockAt: number) {
  const order = {
    ...{ orderId: "o", id: `0x${"11".repeat(32)}`, source: "payments", payee: `0x${"22".repeat(20)}` },
    ...{ amount, fee: 0n, validUntil: expiresAt, isPaid: false },
    invoice: { received: 0n, receivedInTime: 0n, booked: 0n, expiresAt, isCanceled, paidAt: null },
  };
  const { invoice } = bookOrder(order, sightings, { newestBlockAt });
  if (invoice === undefined) throw new Error("an order of an invoice has one");
  return invoice;
}

t.test("a state is what has arrived, and when, in whatever order it was seen", async (t) => {
  fc.assert(
    fc.property(arrivals, fc.boolean(), fc.infiniteStream(fc.nat()), (given, isCanceled, numbers) => {
      let sum = 0n;
      const sightings: Sighting[] = given
        .toSorted((one, other) => one.block - other.block)
        .map(({ block, amount: arrived }) => {
          sum += arrived;
          return { block: blockOf(block), receivedAfter: sum, txHash: null, payer: null };
        });
      // Of several in one block the ledger sees their sum alone.
      const seen = [
        ...new Map(sightings.map((each) => ["block" in each ? each.block.number : 0, each])).values(),
      ];
      const shuffled = seen
        .map((sighting) => ({ sighting, place: Number(numbers.next().value) }))
        .toSorted((one, other) => one.place - other.place)
        .map(({ sighting }) => sighting);
      const inTime = given
        .filter(({ block }) => block <= expiresAt)
        .reduce((total, { amount: arrived }) => total + arrived, 0n);
      const booked = book(shuffled, isCanceled, 1000);
      const expected = invoiceState({
        ...{ amount, received: sum, receivedInTime: inTime, isExpired: true, isCanceled },
      });
      return (
        booked.received === sum &&
        booked.receivedInTime === inTime &&
        booked.state === expected &&
        (booked.paidAt !== null) === sum >= amount
      );
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

t.test("money is never hidden: each state says what arrived", async (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 3000n }),
      fc.bigInt({ min: 0n, max: 3000n }),
      fc.boolean(),
      fc.boolean(),
      (early, more, isExpired, isCanceled) => {
        const received = early + (isExpired ? more : 0n);
        const state = invoiceState({ amount, received, receivedInTime: early, isExpired, isCanceled });
        const complete = ["paid", "overpaid", "paid_late"];
        if (received === 0n) return state === (isCanceled ? "canceled" : isExpired ? "expired" : "open");
        if (received < amount) return state === "underpaid";
        if (!complete.includes(state)) return false;
        return (state === "paid_late") === (isCanceled || early < amount);
      },
    ),
    { numRuns: 2000 },
  );
  t.pass();
});
