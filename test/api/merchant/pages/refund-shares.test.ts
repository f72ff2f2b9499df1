import t from "tap";
import { refundsOf } from "../../../../api/merchant/pages/pages/refund-shares.ts";

type Given = Parameters<typeof refundsOf>[0];

const payment = (payer: string | null, amountWei: string): Given["payments"][number] => ({
  ...{ way: "box", amountWei, txHash: null, payer, blockNumber: 1 },
  ...{ at: "2026-11-23T00:00:00Z", atUnix: 1_795_392_000 },
});
const paid = (payments: Given["payments"], receivedWei: string, overpaidWei: string) => ({
  ...{ state: "overpaid" as const, payments, receivedWei, overpaidWei },
});

t.test("what is too much goes back to who sent it last", async (t) => {
  const invoice = paid([payment("A", "6"), payment("B", "3"), payment("A", "5")], "14", "7");
  t.same(refundsOf(invoice, "excess"), {
    shares: [
      { payer: "A", amountWei: 5n },
      { payer: "B", amountWei: 2n },
    ],
    unknownWei: 0n,
  });
  t.equal(refundsOf(invoice, "all"), undefined);
});

t.test("payments that are not told came last: nobody else gets them", async (t) => {
  const told = [payment("A", "10"), payment("B", "2")];
  t.same(refundsOf(paid(told, "22", "10"), "excess"), { shares: [], unknownWei: 10n });
  t.same(refundsOf(paid(told, "15", "5"), "excess"), {
    shares: [{ payer: "B", amountWei: 2n }],
    unknownWei: 3n,
  });
});
