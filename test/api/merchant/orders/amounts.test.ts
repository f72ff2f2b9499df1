import fc from "fast-check";
import t from "tap";
import { tokensOf } from "../../../../api/merchant/orders/order-record.ts";
import { timeOf } from "../../../../api/merchant/times.ts";
import { splitFee } from "../../../../lib/fee-collector/split-fee.ts";
import "../../../helpers/property-seed.ts";

const wei = fc.oneof(fc.bigInt(0n, 10n ** 30n), fc.bigInt(0n, 1000n));

t.test(
  "of a fee three tenths are burned, rounded down, and the treasury has the rest to the wei",
  async (t) => {
    fc.assert(
      fc.property(wei, (fee) => {
        const { burned, treasury } = splitFee(fee);
        return burned + treasury === fee && burned * 10n <= fee * 3n && (burned + 1n) * 10n > fee * 3n;
      }),
      { numRuns: 2000 },
    );
    t.same(splitFee(3n), { burned: 0n, treasury: 3n });
    t.same(splitFee(100n * 10n ** 18n), { burned: 30n * 10n ** 18n, treasury: 70n * 10n ** 18n });
  },
);

t.test("a fee that is paid in parts burns what it would at once, as the contract counts it", async (t) => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 50n), { maxLength: 20 }), (parts) => {
      let paid = 0n;
      let burned = 0n;
      for (const part of parts) {
        burned += splitFee(paid + part).burned - splitFee(paid).burned;
        paid += part;
      }
      return burned === splitFee(paid).burned;
    }),
    { numRuns: 1000 },
  );
  t.pass();
});

t.test(
  "tokens are written so that the same wei can be read from them, without zeros that say nothing",
  async (t) => {
    fc.assert(
      fc.property(wei, (amount) => {
        const text = tokensOf(amount);
        const [whole = "", decimals = ""] = text.split(".");
        if (!/^(?:0|[1-9]\d*)(?:\.\d{0,17}[1-9])?$/.test(text)) return false;
        return BigInt(whole) * 10n ** 18n + BigInt(decimals.padEnd(18, "0")) === amount;
      }),
      { numRuns: 2000 },
    );
    t.equal(tokensOf(10n ** 19n), "10");
    t.equal(tokensOf(1n), "0.000000000000000001");
  },
);

t.test("a time's two forms are the same second", async (t) => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("2200-01-01"), noInvalidDate: true }), (at) => {
      const { text, unix } = timeOf(at);
      return (
        unix === Math.floor(at.getTime() / 1000) && Date.parse(text) === unix * 1000 && text.length === 20
      );
    }),
    { numRuns: 1000 },
  );
  t.same(timeOf(new Date("2027-01-15T08:00:00.999Z")), { text: "2027-01-15T08:00:00Z", unix: 1_800_000_000 });
});
