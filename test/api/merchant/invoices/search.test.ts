import { randomBytes } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { readInvoiceSearch } from "../../../../api/merchant/invoices/invoice-search.ts";
import { listInvoices } from "../../../../api/merchant/invoices/invoice-store.ts";
import { publicId } from "../../../../api/merchant/public-id.ts";
import { checksumAddress } from "../../../../lib/chain/checksum-address.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import "../../../helpers/property-seed.ts";
import { createPool } from "../../../lib/postgres/support/pool.ts";
import { beginEpoch, insertWallet, invoiceRow, orderRow, paymentRow } from "../support/rows.ts";

const { pool } = createPool(t, { url: await createDatabase(t) });
await beginEpoch(pool);

async function startMerchant() {
  const bytes = await insertWallet(pool, randomBytes(20));
  const wallet = checksumAddress(`0x${Buffer.from(bytes).toString("hex")}`);
  return {
    async invoice(change: Readonly<Record<string, unknown>>) {
      const order = orderRow(bytes, { kind: "invoice", payee: bytes, fee: 0n });
      await insertRow(pool, "orders", order);
      const row = { ...invoiceRow(bytes, order.id), ...change };
      await insertRow(pool, "invoices", row);
      return row;
    },
    async found(typed: string) {
      const search = readInvoiceSearch(typed);
      const rows = await listInvoices(pool, { wallet, filter: { search }, before: undefined, count: 100 });
      return rows.map(({ customerLabel }) => customerLabel).toSorted();
    },
  };
}

const merchant = await startMerchant();
const other = await startMerchant();
const sari = await merchant.invoice({
  ...{ customer_label: "Ibu Sari 🧺", reference: "INV/2026/77", note: "2 kain batik-tulis\nwarna biru" },
});
await merchant.invoice({ customer_label: "Pak Budi", reference: "ORD-102", note: "Kopi “Gayo”, 1e5 biji" });
await merchant.invoice({ customer_label: "Café Sérénité", note: "it's 100% & more: a|b !c (d)" });
await other.invoice({ customer_label: "Ibu Sari's twin", reference: "INV/2026/77" });

t.test(
  "an invoice is found by how words of its reference, customer and note begin, all of them",
  async (t) => {
    const all = ["Café Sérénité", "Ibu Sari 🧺", "Pak Budi"];
    for (const [typed, expected] of [
      ["sari", ["Ibu Sari 🧺"]],
      ["SAR", ["Ibu Sari 🧺"]],
      ["INV/2026/77", ["Ibu Sari 🧺"]],
      ["77", ["Ibu Sari 🧺"]],
      ["2026 77", ["Ibu Sari 🧺"]],
      ["tulis", ["Ibu Sari 🧺"]],
      ["biru sari", ["Ibu Sari 🧺"]],
      ["biru budi", []],
      ["ari", []],
      ["102", ["Pak Budi"]],
      ["ord-102", ["Pak Budi"]],
      ["gayo", ["Pak Budi"]],
      ["1e5", ["Pak Budi"]],
      ["sérén", ["Café Sérénité"]],
      ["café", ["Café Sérénité"]],
      ["nowhere", []],
      ["", all],
      [" \t", all],
      ["%", all],
    ] as const) {
      t.same(await merchant.found(typed), expected, JSON.stringify(typed));
    }
  },
);

t.test("or by its id, or by a transaction that paid it; another wallet's is not there", async (t) => {
  const hash = randomBytes(32);
  await insertRow(pool, "payments", paymentRow(sari.order_id, { tx_hash: hash }));
  const id = publicId("inv", sari.id);
  const typed = `0x${hash.toString("hex")}`;
  t.same(await merchant.found(id), ["Ibu Sari 🧺"]);
  t.same(await merchant.found(` ${typed.toUpperCase().replace("X", "x")} `), ["Ibu Sari 🧺"]);
  t.same(await other.found(id), []);
  t.same(await other.found(typed), []);
  t.same(await other.found("sari"), ["Ibu Sari's twin"]);
});

t.test("whatever is typed asks for words, and for nothing else", async (t) => {
  for (const typed of [
    "sari | budi",
    "!sari",
    "sari <-> batik",
    "sari:*A",
    "'sari' OR 1=1 --",
    "\\",
    "'",
    "a\u0000b",
    "\ud800",
    "()",
    "&",
    "x".repeat(10_000),
    "🧺",
    Array.from({ length: 5000 }, (_, index) => `w${index}`).join(" "),
  ]) {
    t.ok(Array.isArray(await merchant.found(typed)), JSON.stringify(typed.slice(0, 40)));
  }
  t.same(await merchant.found("sari | budi"), [], "a sign of the database's queries is none");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (typed) => {
      await merchant.found(typed);
    }),
    { numRuns: 200 },
  );
});
