import { randomBytes, randomUUID } from "node:crypto";
import t from "tap";
import { dashboardRecord } from "../../../../api/merchant/dashboard/dashboard-record.ts";
import { readAttention } from "../../../../api/merchant/dashboard/read-attention.ts";
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
  const attention = () => readAttention({ db: pool, wallet, nowMs });
  return { bytes, wallet, read, attention, invoice };
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

t.test("what needs somebody is counted over the same 30 days, by what is missing or too much", async (t) => {
  const { bytes, attention, invoice } = await startMerchant();
  const createdAt = new Date(nowMs - 60_000);
  const some = (change: Readonly<Record<string, unknown>>) => invoice({ created_at: createdAt, ...change });
  const price = 10n * token;
  await some({ amount_idr: 150_000 });
  await some({ amount_idr: 30_000, state: "expired" });
  await some({ amount_idr: 150_000, state: "underpaid", received: 4n * token });
  await some({ amount_idr: 10_000, state: "underpaid", received: price - 1n });
  const paid = { paid_at: createdAt, received_in_time: 0n };
  await some({ ...paid, amount_idr: 70_000, state: "paid_late", received: price });
  await some({ ...paid, amount_idr: 70_000, state: "overpaid", received: 12n * token });
  await some({ ...paid, amount_idr: 9_000, state: "paid", received: price });
  // A minute before the first of the days, and at its beginning.
  const old = { ...paid, amount_idr: 500_000, state: "paid_late", received: price };
  await some({ ...old, created_at: new Date("2026-10-24T16:59:00Z") });
  await some({ ...old, amount_idr: 1_000, created_at: new Date("2026-10-24T17:00:00Z") });
  const stranger = await startMerchant();
  await stranger.invoice({ created_at: createdAt });
  const day = 86_400_000;
  for (const [hint, change] of [
    ["later", { expires_at: new Date(nowMs + 8 * day) }],
    ["soon", { expires_at: new Date(nowMs + 6 * day) }],
    ["tomorrow", { expires_at: new Date(nowMs + day) }],
    ["over", { expires_at: new Date(nowMs - 1000) }],
    ["revoked", { expires_at: new Date(nowMs + day), revoked_at: createdAt }],
  ] as const) {
    const order = orderRow(bytes);
    await insertRow(pool, "orders", order);
    const key = keyRow(bytes, order.id, { hint, created_at: new Date(nowMs - 20 * day), ...change });
    await insertRow(pool, "api_keys", key);
  }
  const found = await attention();
  t.match(found, {
    since: "2026-10-25",
    open: { count: 1, amountIdr: 150_000 },
    underpaid: { count: 2, amountIdr: 90_000 },
    late: { count: 2, amountIdr: 71_000 },
    overpaid: { count: 1, amountIdr: 14_000 },
  });
  t.same(
    found.expiringKeys.map(({ hint }) => hint),
    ["tomorrow", "soon"],
  );
  t.match(await (await startMerchant()).attention(), {
    ...{ open: { count: 0, amountIdr: 0 }, underpaid: { count: 0, amountIdr: 0 } },
    ...{ late: { count: 0, amountIdr: 0 }, overpaid: { count: 0, amountIdr: 0 }, expiringKeys: [] },
  });
});

t.test("the webhook's state is told, with what of the last day is not delivered", async (t) => {
  const { bytes, read } = await startMerchant();
  const fee = orderRow(bytes, { kind: "webhook_url" });
  await insertRow(pool, "orders", fee);
  const endpoint = randomUUID();
  await insertRow(pool, "webhook_endpoints", {
    ...{
      id: endpoint,
      wallet: bytes,
      order_id: fee.id,
      url: "https://shop.example/",
      secret_sealed: Buffer.from("x"),
    },
  });
  const webhook = async () => (await read()).webhook;
  t.same(await webhook(), { state: "active", failed24h: 0 });
  for (const [sequence, delivery] of [
    { state: "delivered", attempts: 3 },
    { state: "waiting", attempts: 0 },
    { state: "waiting", attempts: 1 },
    { state: "dead", attempts: 9 },
    { state: "dropped", attempts: 0 },
    { state: "dead", attempts: 9, old: true },
  ].entries()) {
    const { old = false, ...row } = delivery;
    const id = randomUUID();
    await insertRow(pool, "webhook_events", {
      ...{ id, wallet: bytes, sequence: sequence + 1, type: "webhook.test", body: "{}" },
      created_at: new Date(Date.now() - (old ? 25 : 23) * 3_600_000),
    });
    await insertRow(pool, "webhook_deliveries", {
      ...{ event_id: id, endpoint_id: endpoint, sequence: sequence + 1 },
      ...row,
    });
  }
  t.same(await webhook(), { state: "active", failed24h: 3 });
  const change = (set: string) =>
    pool.query(`update svc.webhook_endpoints set ${set} where id = $1`, [endpoint]);
  await change("failing_since = now()");
  t.match(await webhook(), { state: "failing" });
  await change("disabled_at = now(), disabled_why = 'failing'");
  t.match(await webhook(), { state: "disabled" });
});
