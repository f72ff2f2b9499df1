import t from "tap";
import { type Phase, phaseOf } from "../../../../api/merchant/checkout/phase.ts";
import { dueOf, overOf, rupiahOf } from "../../../../api/merchant/checkout/rupiah-of.ts";

const ends = new Date("2026-11-23T06:00:00Z");
const [before, at, after] = [-1000, 0, 1].map((ms) => ends.getTime() + ms);
const canceled = new Date("2026-11-23T05:00:00Z");

t.test("what can be paid, and until when, is said by the state, the end and the chain's clock", async (t) => {
  const rows: [Parameters<typeof phaseOf>[0]["state"], Date | null, number | undefined, boolean, Phase][] = [
    ["open", null, before, true, "waiting"],
    ["open", null, at, true, "waiting"],
    ["open", null, after, true, "ending"],
    ["underpaid", null, before, true, "short"],
    ["underpaid", null, at, true, "short"],
    ["underpaid", null, after, true, "shortOver"],
    ["underpaid", canceled, before, true, "shortOver"],
    ["paid", null, after, true, "paid"],
    ["overpaid", null, before, true, "overpaid"],
    ["paid_late", canceled, before, true, "late"],
    ["expired", null, after, true, "expired"],
    ["expired", null, before, true, "expired"],
    ["canceled", canceled, before, true, "canceled"],
    ["open", null, before, false, "otherChain"],
    ["underpaid", null, before, false, "otherChain"],
    ["expired", null, after, false, "otherChain"],
    ["paid", null, before, false, "paid"],
  ];
  for (const [state, canceledAt, nowMs = 0, isOfThisChain, phase] of rows) {
    const found = phaseOf({ state, expiresAt: ends, canceledAt }, { isOfThisChain, nowMs });
    t.equal(found, phase, `${state} ${canceledAt !== null} ${nowMs} ${isOfThisChain}`);
  }
});

t.test("what is missing is never told as less than it is, and what came never as more", async (t) => {
  const token = 10n ** 18n;
  const priced = { amount: 10n * token, amountIdr: 150_000, received: 0n };
  t.equal(rupiahOf(4n * token, priced, { round: "up" }), "Rp\u00a060.000");
  t.equal(rupiahOf(1n, priced, { round: "up" }), "Rp\u00a01");
  t.equal(rupiahOf(1n, priced, { round: "down" }), undefined);
  t.equal(rupiahOf(token / 15_000n + 1n, priced, { round: "up" }), "Rp\u00a02");
  t.equal(rupiahOf(2n * (token / 15_000n), priced, { round: "down" }), "Rp\u00a01");
  const largest = { amount: 2n ** 96n - 1n, amountIdr: 1_000_000_000, received: 0n };
  t.equal(rupiahOf(largest.amount, largest, { round: "down" }), "Rp\u00a01.000.000.000");
  for (const [received, due, over] of [
    [0n, 10n, 0n],
    [4n, 6n, 0n],
    [10n, 0n, 0n],
    [11n, 0n, 1n],
  ] as const)
    t.same(
      [dueOf({ ...priced, amount: 10n, received }), overOf({ ...priced, amount: 10n, received })],
      [due, over],
    );
});
