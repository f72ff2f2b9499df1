import { randomBytes } from "node:crypto";
import t from "tap";
import { takeDueBoxes } from "../../../../api/merchant/invoices/collect-orders.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import { createPool } from "../../../lib/postgres/support/pool.ts";
import { beginEpoch, insertWallet, invoiceRow, orderRow } from "../support/rows.ts";

const { pool } = createPool(t, { url: await createDatabase(t) });
await beginEpoch(pool);
const bytes = await insertWallet(pool, randomBytes(20));
const now = new Date();
const amount = 10n ** 19n;
await pool.query("update svc.chain_cursor set boxes_at = $1, last_block_at = $1", [now]);

async function invoice(change: Readonly<Record<string, unknown>>): Promise<string> {
  const order = orderRow(bytes, { kind: "invoice", payee: bytes, fee: 0n, source: "payments" });
  await insertRow(pool, "orders", order);
  const row = { ...invoiceRow(bytes, order.id), ...change };
  await insertRow(pool, "invoices", row);
  return row.id;
}
const paid = (received = amount) => ({
  ...{ received, received_in_time: received, state: "paid", paid_at: now },
});
const part = { received: 5, received_in_time: 5, state: "underpaid" };
const past = (seconds: number) => new Date(now.getTime() - seconds * 1000);

t.test(
  "what is complete is due, and a part when its watch has ended; each for one who asks, however many do",
  async (t) => {
    const due = [
      await invoice(paid()),
      await invoice({ ...paid(), booked: 5 }),
      await invoice({ ...part, expires_at: past(90_000), watch_until: past(1) }),
      await invoice({ ...paid(), collected_at: past(61) }),
    ];
    await invoice({});
    await invoice(part);
    await invoice({ ...part, booked: 5, expires_at: past(90_000), watch_until: past(1) });
    await invoice({ ...paid(), booked: amount });
    await invoice({ ...paid(), collected_at: past(30) });
    const taken = await Promise.all(Array.from({ length: 6 }, () => takeDueBoxes(pool, { boxesMax: 2 })));
    t.same(
      taken
        .flat()
        .map(({ invoiceId }) => invoiceId)
        .toSorted(),
      due.toSorted(),
    );
    t.ok(taken.every((boxes) => boxes.length <= 2));
    t.same(await takeDueBoxes(pool, { boxesMax: 100 }), [], "for a minute they are somebody's");
    await pool.query("update svc.invoices set collected_at = collected_at - interval '61 seconds'");
    t.equal((await takeDueBoxes(pool, { boxesMax: 100 })).length, due.length + 1, "and then due again");
  },
);

t.test("boxes of an earlier chain are nobody's", async (t) => {
  await invoice({ ...paid(), collected_at: null });
  await insertRow(pool, "chain_epochs", {
    ...{ epoch: 2, genesis_hash: randomBytes(32), fee_collector: randomBytes(20), first_block: 2 },
  });
  await pool.query("update svc.chain_cursor set epoch = 2");
  t.same(await takeDueBoxes(pool, { boxesMax: 100 }), []);
});
