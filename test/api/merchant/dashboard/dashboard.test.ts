import { randomBytes } from "node:crypto";
import t from "tap";
import { dashboardRecord } from "../../../../api/merchant/dashboard/dashboard-record.ts";
import { readDashboard } from "../../../../api/merchant/dashboard/read-dashboard.ts";
import { checksumAddress } from "../../../../lib/chain/checksum-address.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import { createPool } from "../../../lib/postgres/support/pool.ts";
import { beginEpoch, insertWallet, invoiceRow, keyRow, orderRow } from "../support/rows.ts";

const { pool } = createPool(t, { url: await createDatabase(t) });
await beginEpoch(pool);
// Half past midnight of the 23rd in Jakarta is half past five in the evening of the 22nd in UTC.
const nowMs = Date.parse("2026-11-22T17:30:00Z");
const token = 10n ** 18n;

async function startMerchant() {
  const bytes = await insertWallet(pool, randomBytes(20));
  const wallet = checksumAddress(`0x${Buffer.from(bytes).toString("hex")}`);
  const read = async () =>
    dashboardRecord.parse(await readDashboard({ db: pool, wallet, activeKeysMax: 5, nowMs }));
  const invoice = async (change: Readonly<Record<string, unknown>>) => {
    const order = orderRow(bytes, { kind: "invoice", payee: bytes, fee: 0n });
    await insertRow(pool, "orders", order);
    const row = { ...invoiceRow(bytes, order.id), ...change };
    await insertRow(pool, "invoices", row);
    return row.id;
  };
  return { bytes, wallet, read, invoice };
}

t.test("a merchant without invoices has zeros for each of the last 30 days", async (t) => {
  const { wallet, read } = await startMerchant();
  const dashboard = await read();
  t.match(dashboard, {
    ...{ wallet, currency: "IDR", timeZone: "Asia/Jakarta", latest: [] },
    invoices: { open: 0, underpaid: 0, paid: 0, overpaid: 0, paidLate: 0, expired: 0, canceled: 0 },
    received: { todayIdr: 0, last30DaysIdr: 0, totalIdr: 0, totalWei: "0" },
    keys: { active: 0, max: 5 },
    webhook: { state: "none", failed24h: 0 },
  });
  t.equal(dashboard.series.length, 30);
  t.same(
    [dashboard.series[0]?.date, dashboard.series[29]?.date],
    ["2026-10-25", "2026-11-23"],
    "days are Jakarta's, oldest first",
  );
});

t.test(
  "sums are of what became complete on each day of Jakarta, states are counted, parts are in wei alone",
  async (t) => {
    const { bytes, read, invoice } = await startMerchant();
    const paid = (amountIdr: number, at: string, more: Readonly<Record<string, unknown>> = {}) =>
      invoice({
        ...{ amount_idr: amountIdr, state: "paid", paid_at: new Date(at) },
        ...{ received: token, received_in_time: token, booked: token, ...more },
      });
    await paid(10_000, "2026-11-22T17:00:00Z");
    await paid(20_000, "2026-11-22T16:59:59Z");
    await paid(40_000, "2026-10-24T17:00:00Z", { state: "paid_late", received_in_time: 0n });
    await paid(80_000, "2026-10-24T16:59:59Z", { state: "overpaid" });
    await invoice({ state: "underpaid", received: 5n, received_in_time: 5n, booked: 5n });
    await invoice({ state: "canceled", canceled_at: new Date(nowMs) });
    const newest = await invoice({
      created_at: new Date("2100-01-01"),
      customer_label: "Ibu Sari",
      reference: "A-1",
    });
    const stranger = await startMerchant();
    await stranger.invoice({});
    for (const change of [
      {},
      { expires_at: new Date("2020-01-02"), created_at: new Date("2020-01-01") },
      { revoked_at: new Date() },
    ]) {
      const order = orderRow(bytes);
      await insertRow(pool, "orders", order);
      await insertRow(pool, "api_keys", keyRow(bytes, order.id, change));
    }

    const dashboard = await read();
    t.match(dashboard, {
      invoices: { open: 1, underpaid: 1, paid: 2, overpaid: 1, paidLate: 1, expired: 0, canceled: 1 },
      received: {
        todayIdr: 10_000,
        last30DaysIdr: 70_000,
        totalIdr: 150_000,
        totalWei: String(4n * token + 5n),
      },
      keys: { active: 1, max: 5 },
    });
    t.match(dashboard.series[29], { paid: 1, amountIdr: 10_000, amountWei: String(token) });
    t.match(dashboard.series[28], { paid: 1, amountIdr: 20_000 });
    t.match(dashboard.series[0], { paid: 1, amountIdr: 40_000 });
    t.equal(dashboard.latest.length, 5);
    t.match(dashboard.latest[0], {
      state: "open",
      customerLabel: "Ibu Sari",
      reference: "A-1",
      paidAt: null,
    });
    t.match(dashboard.latest[0]?.id, /^inv_[0-9A-Za-z]{22}$/);
    t.type(newest, "string");
  },
);
