import { Wallet } from "ethers";
import t from "tap";
import { removeUnpaidOrders, removeUnusedWallets } from "../../../api/merchant/unused-rows.ts";
import { signIn } from "./support/sign-in.ts";
import { askKey, buyKey, markPaid, orderKey, startShop } from "./support/start-shop.ts";

const shop = await startShop(t);
const { api, db } = shop;
const sweepOrders = removeUnpaidOrders(db);
const sweepWallets = removeUnusedWallets(db);
const count = async (table: "orders" | "wallets") =>
  Number(Object((await db.query(`select count(*)::int as n from svc.${table}`)).rows[0]).n);
/** Lets what there is grow old, and the ledger's last block come after it. */
const grow = async ({ orderDays, ledgerDays }: { orderDays: number; ledgerDays: number }) => {
  await db.query("update svc.orders set valid_until = now() - make_interval(days => $1)", [orderDays]);
  await db.query("update svc.chain_cursor set last_block_at = now() - make_interval(days => $1)", [
    ledgerDays,
  ]);
};
const wallet = new Wallet(`0x${"5".repeat(64)}`);
const { bearer } = await signIn(api, wallet);

t.test("an order that nobody paid is removed a week after it expired, one that was paid never", async (t) => {
  const key = await buyKey(shop, bearer);
  const paid = await orderKey(api, bearer);
  await markPaid(db, paid.id);
  const unpaid = await orderKey(api, bearer);
  await grow({ orderDays: 6, ledgerDays: 0 });
  t.same(await sweepOrders(), { hasMore: false });
  t.equal(await count("orders"), 3, "not yet");
  await grow({ orderDays: 30, ledgerDays: 24 });
  await sweepOrders();
  t.equal(await count("orders"), 3, "a ledger that is behind may yet find it paid");
  await grow({ orderDays: 30, ledgerDays: 22 });
  await sweepOrders();
  t.equal(await count("orders"), 2);
  t.equal((await askKey(api, bearer, unpaid.id)).status, 404);
  t.equal((await askKey(api, bearer, paid.id)).status, 201, "what was paid keeps its value");
  t.ok(key.id);
});

t.test("before the ledger has begun nothing is removed", async (t) => {
  await orderKey(api, bearer);
  await grow({ orderDays: 30, ledgerDays: 0 });
  const before = await count("orders");
  await db.query("begin");
  await db.query("delete from svc.chain_cursor");
  await sweepOrders();
  t.equal(await count("orders"), before);
  await db.query("rollback");
});

t.test("a wallet that left nothing behind is removed, any other stays", async (t) => {
  await db.query(
    "insert into svc.wallets (address) select decode(lpad(to_hex(n), 40, '0'), 'hex') from generate_series(1, 1500) n",
  );
  const before = await count("wallets");
  t.same(await sweepWallets(), { hasMore: false });
  t.equal(await count("wallets"), before, "not yet");
  await db.query("update svc.wallets set created_at = now() - interval '8 days'");
  t.same(await sweepWallets(), { hasMore: true });
  t.same(await sweepWallets(), { hasMore: false });
  t.equal(await count("wallets"), before - 1500);
  t.ok(await signIn(api, wallet), "it is still known");
});
