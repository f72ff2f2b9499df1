import fc from "fast-check";
import t from "tap";
import "../../../helpers/property-seed.ts";
import { formatRupiah } from "../../../../api/merchant/invoices/format-rupiah.ts";
import { amountIdrMax, amountIdrMin } from "../../../../api/merchant/invoices/invoice-body.ts";
import { idrPerToken } from "../../../../api/merchant/invoices/invoices-config.ts";
import { feeOf, priceInWei } from "../../../../api/merchant/invoices/price.ts";
import { orderAmountWeiMax } from "../../../../lib/fee-collector/fee-order.ts";

const amounts = fc.integer({ min: amountIdrMin, max: amountIdrMax });
/** A rate as the configuration takes it: digits, and perhaps decimals. */
const rates = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 999_999_999_999n }),
    fc.option(fc.stringMatching(/^\d{1,12}$/), { nil: undefined }),
  )
  .map(([whole, decimals]) => (decimals === undefined ? String(whole) : `${whole}.${decimals}`))
  .filter((text) => idrPerToken.safeParse(text).success);

/** The same fraction from the text, by another way than the code's. */
function scaled(decimal: string): bigint {
  const [whole = "0", decimals = ""] = decimal.split(".");
  return BigInt(whole) * 10n ** 12n + BigInt(decimals.padEnd(12, "0"));
}

t.test("a price is never less than is owed, and at most a hundred-thousandth more", async (t) => {
  fc.assert(
    fc.property(amounts, rates, (amountIdr, rate) => {
      const wei = priceInWei({ amountIdr, idrPerToken: rate });
      // In wei times the rate's 10^12: no division, so nothing is rounded here.
      const paid = wei * scaled(rate);
      const owed = BigInt(amountIdr) * 10n ** 30n;
      const stepOfOneWei = scaled(rate);
      if (paid < owed) return false;
      return (paid - owed) * 100_000n <= owed || paid - owed < stepOfOneWei;
    }),
    { numRuns: 5000 },
  );
  t.pass();
});

t.test("a price has six significant digits at most, and is one that an order can have", async (t) => {
  fc.assert(
    fc.property(amounts, rates, (amountIdr, rate) => {
      const wei = priceInWei({ amountIdr, idrPerToken: rate });
      return String(wei).replace(/0+$/, "").length <= 6 && wei > 0n && wei <= orderAmountWeiMax;
    }),
    { numRuns: 5000 },
  );
  t.equal(
    priceInWei({ amountIdr: amountIdrMax, idrPerToken: "0.1" }) <= orderAmountWeiMax,
    true,
    "the dearest",
  );
});

t.test("prices as a person would work them out", async (t) => {
  const price = (amountIdr: number, rate: string) => String(priceInWei({ amountIdr, idrPerToken: rate }));
  t.equal(price(150_000, "15000"), "10000000000000000000");
  t.equal(price(100_000, "15000"), "6666670000000000000", "6.666 666… is rounded up");
  t.equal(price(100_000, "15000.50"), "6666450000000000000");
  t.equal(price(999_999_999, "1"), "1000000000000000000000000000", "a carry over all digits");
  t.equal(price(1000, "999999999999.999999999999"), "1000010000", "of the dearest token a billionth");
});

t.test("a fee is the whole part of its share", async (t) => {
  t.equal(feeOf(10n ** 19n, 0), 0n);
  t.equal(feeOf(10n ** 19n, 100), 10n ** 17n);
  t.equal(feeOf(99n, 100), 0n);
});

t.test("a rate is decimal text in bounds, and nothing that only looks like a number", async (t) => {
  for (const text of ["0.1", "1", "15000", "15000.50", "999999999999.999999999999"])
    t.ok(idrPerToken.safeParse(text).success, text);
  const wrong = [
    "",
    "0",
    "0.09",
    "-1",
    "+1",
    "1e3",
    "0x10",
    "1,5",
    " 1",
    "1.",
    ".5",
    "01",
    "Infinity",
    "NaN",
  ];
  for (const text of [...wrong, "1000000000000", "1.0000000000001"])
    t.notOk(idrPerToken.safeParse(text).success, text);
});

t.test("rupiah are written as in Indonesia, with a space that does not break", async (t) => {
  t.equal(formatRupiah(150_000), "Rp\u00a0150.000");
  t.equal(formatRupiah(1000), "Rp\u00a01.000");
  t.equal(formatRupiah(1_000_000_000), "Rp\u00a01.000.000.000");
  fc.assert(
    fc.property(amounts, (amountIdr) => {
      const text = formatRupiah(amountIdr);
      return /^Rp\u00a0\d{1,3}(?:\.\d{3})+$/.test(text) && Number(text.replace(/\D/g, "")) === amountIdr;
    }),
  );
});
