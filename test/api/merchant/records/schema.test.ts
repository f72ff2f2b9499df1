import { randomBytes, randomUUID } from "node:crypto";
import t from "tap";
import { onlyRow, readInteger } from "../../../../lib/postgres/row.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import { createPool } from "../../../lib/postgres/support/pool.ts";
import { beginEpoch, insertWallet, invoiceRow, keyRow, orderRow, paymentRow } from "../support/rows.ts";

const { pool } = createPool(t, { url: await createDatabase(t) });

t.test("an order is taken only once the ledger knows which chain it is for", async (t) => {
  const wallet = await insertWallet(pool);
  await t.rejects(insertRow(pool, "orders", orderRow(wallet)), { message: /"epoch".*not-null/ });
  await beginEpoch(pool);
  const order = orderRow(wallet);
  await insertRow(pool, "orders", order);
  const { rows } = await pool.query("select epoch from svc.orders where id = $1", [order.id]);
  t.equal(readInteger(onlyRow(rows), "epoch"), 1);
});

t.test("what is no order is refused", async (t) => {
  const wallet = await insertWallet(pool);
  const wrong = {
    "of no wallet": { wallet: randomBytes(20) },
    "of a short address": { wallet: randomBytes(19) },
    "of a source that there is not": { source: "svc-dev" },
    "for nothing": { amount: 0, fee: 0 },
    "for a negative amount": { amount: -1, fee: -1 },
    "for more than the contract takes": { amount: 2n ** 96n, fee: 2n ** 96n },
    "with a fee above its amount": { fee: 101n * 10n ** 18n },
    "of a key, and with a payee": { payee: randomBytes(20) },
    "of an invoice, and without a payee": { kind: "invoice" },
    "of a key, and not all of it a fee": { fee: 1 },
    "used without being paid": { used_at: new Date() },
    "paid in no block": { paid_at: new Date() },
    "with an endless request": { request: JSON.stringify({ label: "x".repeat(5000) }) },
  };
  for (const [what, change] of Object.entries(wrong)) {
    await t.rejects(insertRow(pool, "orders", orderRow(wallet, change)), what);
  }
  await insertRow(pool, "orders", orderRow(wallet, { amount: 2n ** 96n - 1n, fee: 2n ** 96n - 1n }));
});

t.test("one order issues one key, and one secret is one key", async (t) => {
  const wallet = await insertWallet(pool);
  const [first, second] = [orderRow(wallet), orderRow(wallet)];
  for (const order of [first, second]) await insertRow(pool, "orders", order);
  const key = keyRow(wallet, first.id);
  await insertRow(pool, "api_keys", key);
  await t.rejects(insertRow(pool, "api_keys", keyRow(wallet, first.id)), { message: /order_id/ });
  await t.rejects(insertRow(pool, "api_keys", keyRow(wallet, second.id, { hash: key.hash })), {
    message: /hash/,
  });
  const wrong = {
    "a scope that there is not": { scopes: ["dashboard:read", "admin"] },
    "no scope": { scopes: [] },
    "a package that there is not": { package: "weekly" },
    "an end before its beginning": { expires_at: new Date(0) },
    "a sealed secret without an end": { secret_sealed: randomBytes(64) },
    "a label of 61 characters": { label: "x".repeat(61) },
  };
  for (const [what, change] of Object.entries(wrong)) {
    await t.rejects(insertRow(pool, "api_keys", keyRow(wallet, second.id, change)), what);
  }
  await insertRow(pool, "api_keys", keyRow(wallet, second.id, { label: "x".repeat(60) }));
});

t.test("what arrived counts once, and no payment is changed or deleted", async (t) => {
  const wallet = await insertWallet(pool);
  const [order, other] = [orderRow(wallet), orderRow(wallet)];
  for (const row of [order, other]) await insertRow(pool, "orders", row);
  await insertRow(pool, "payments", paymentRow(order.id));
  await t.rejects(insertRow(pool, "payments", paymentRow(order.id, { block_number: 3 })), {
    message: /received_after/,
  });
  const event = { way: "contract", tx_hash: randomBytes(32), log_index: 0, payer: randomBytes(20) };
  await insertRow(pool, "payments", paymentRow(other.id, event));
  await t.rejects(
    insertRow(pool, "payments", paymentRow(order.id, { ...event, received_after: 10 })),
    "one event pays two orders",
  );
  await t.rejects(insertRow(pool, "payments", paymentRow(order.id, { amount: 6, received_after: 5 })));
  await t.rejects(insertRow(pool, "payments", paymentRow(order.id, { way: "contract", received_after: 9 })));
  await t.rejects(insertRow(pool, "payments", paymentRow(randomUUID())), "of no order");
  await t.rejects(pool.query("update svc.payments set amount = 1"), { message: /never changed/ });
  await t.rejects(pool.query("delete from svc.payments"), { message: /never changed/ });
  await t.rejects(pool.query("update svc.chain_epochs set first_block = 1"), { message: /never changed/ });
});

t.test("an invoice has one box, and is paid exactly when its state says so", async (t) => {
  const wallet = await insertWallet(pool);
  const orders = Array.from({ length: 3 }, () =>
    orderRow(wallet, { kind: "invoice", source: "payments", payee: wallet, fee: 0 }),
  );
  for (const order of orders) await insertRow(pool, "orders", order);
  const [first = orderRow(wallet), second = first] = orders;
  const invoice = invoiceRow(wallet, first.id, { reference: "A-1" });
  await insertRow(pool, "invoices", invoice);
  const wrong = {
    "the same box": { box: invoice.box },
    "the same reference": { reference: "A-1" },
    "the same place to pay at": { pay_token: invoice.pay_token },
    "too few rupiah": { amount_idr: 999 },
    "too many rupiah": { amount_idr: 1_000_000_001 },
    "a state that there is not": { state: "done" },
    "paid at no time": { state: "paid" },
    "paid and open": { paid_at: new Date() },
    "more in time than at all": { received_in_time: 1 },
    "a watch that ends before the invoice": { watch_until: new Date(0) },
  };
  for (const [what, change] of Object.entries(wrong)) {
    await t.rejects(insertRow(pool, "invoices", invoiceRow(wallet, second.id, change)), what);
  }
  await insertRow(pool, "invoices", invoiceRow(wallet, second.id, { state: "paid", paid_at: new Date() }));
});
