import t from "tap";
import { z } from "zod";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { checkApiKey, hashApiKey } from "../../../../lib/keys/api-key.ts";
import { readInteger } from "../../../../lib/postgres/row.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { send } from "../support/sign-in.ts";
import {
  askKey,
  buyKey,
  dashboardPath,
  keysPath,
  markPaid,
  newcomer,
  orderKey,
  payOrder,
  startShop,
} from "../support/start-shop.ts";

const shop = await startShop(t, { replicas: 2 });
const { api, apis, db, anvil } = shop;
const [one = api, other = api] = apis;
const answer = z.object({ key: z.object({ id: z.string(), secret: z.string() }) });
const secretOf = (json: unknown) => answer.parse(json).key.secret;
const count = async (text: string, values: unknown[] = []) =>
  readInteger((await db.query(text, values)).rows[0] ?? {}, "count");
const bytes = (wallet: string) => Buffer.from(wallet.slice(2), "hex");

async function paidOrders(headers: Record<string, string>, howMany: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < howMany) {
    const { id } = await orderKey(api, headers);
    await markPaid(db, id);
    ids.push(id);
  }
  return ids;
}

t.test("an order that is paid on chain becomes a key, whose secret opens what its scopes name", async (t) => {
  const { wallet, headers } = await newcomer(api);
  const order = await orderKey(api, headers, { package: "monthly", label: "kasir" });
  const txHash = await payOrder(anvil, order);
  const issued = await waitFor("the payment is booked", async () => {
    const asked = await askKey(api, headers, order.id, { txHash });
    if (asked.status === 402) t.equal(asked.headers.get("retry-after"), "2", asked.text);
    return asked.status === 201 && asked;
  });
  const secret = secretOf(issued.json);
  t.match(secret, /^svc_dev_[0-9A-Za-z]{49}$/);
  t.equal(checkApiKey(secret, "svc"), "valid");
  t.match(issued.json, {
    key: {
      ...{ wallet, label: "kasir", package: "monthly", state: "active", orderId: order.id, revokedAt: null },
      scopes: ["dashboard:read", "invoices:read", "invoices:write"],
      hint: `svc_dev_…${secret.slice(-4)}`,
    },
  });
  const { rows } = await db.query(
    "select encode(hash, 'hex') as hash, extract(epoch from expires_at - created_at)::int as seconds, k::text as row from svc.api_keys k where wallet = $1",
    [bytes(wallet)],
  );
  t.match(rows, [{ hash: hashApiKey(secret), seconds: 30 * 86_400 }]);
  t.notMatch(JSON.stringify(rows), secret.slice(8), "the secret itself is stored nowhere");
  const dashboard = await api.get(dashboardPath, { "X-Svc-Dev-Key": secret });
  t.equal(dashboard.status, 200, dashboard.text);
  t.match(dashboard.json, { wallet, keys: { active: 1, max: 5 } });
  t.match((await api.get(`/api/v1/svc-dev/orders/${order.id}`, headers)).json, {
    order: { status: "used", paidTxHash: txHash, transaction: null },
  });
});

t.test("a transaction that was reverted says why, in words, and the order can still be paid", async (t) => {
  const { headers } = await newcomer(api);
  const order = await orderKey(api, headers);
  const tooLittle = await payOrder(anvil, { transaction: { ...order.transaction, value: "0x1" } });
  const refused = await waitFor("it is mined", async () => {
    const asked = await askKey(api, headers, order.id, { txHash: tooLittle });
    return asked.text.includes("reverted") && asked;
  });
  t.match(refused.json, {
    ...{ status: 402, code: "payment_required", order: { status: "open" } },
    detail: /reverted, and nothing was paid\. The order costs 100\.0 TEST, but .* were sent/,
  });
  t.equal(refused.headers.get("retry-after"), null);
  await payOrder(anvil, order);
  await waitFor("it is paid", async () => (await askKey(api, headers, order.id)).status === 201);
});

t.test("one order asked for 50 times at once, at two replicas, is one key with one secret", async (t) => {
  const { wallet, headers } = await newcomer(api);
  const [id = ""] = await paidOrders(headers, 1);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => askKey(index % 2 === 0 ? one : other, headers, id)),
  );
  t.same([...new Set(answers.map(({ status }) => status))], [201]);
  t.equal(new Set(answers.map(({ json }) => secretOf(json))).size, 1);
  t.equal(await count("select count(*)::int from svc.api_keys where wallet = $1", [bytes(wallet)]), 1);
  t.equal(await count("select count(*)::int from svc.audit_log where wallet = $1", [bytes(wallet)]), 1);
});

t.test("80 keys asked for at once, with 40 paid orders, are exactly five", async (t) => {
  const { wallet, headers } = await newcomer(api);
  const ids = await paidOrders(headers, 40);
  const answers = await Promise.all(
    [...ids, ...ids].map((id, index) => askKey(index % 2 === 0 ? one : other, headers, id)),
  );
  const issued = answers.filter(({ status }) => status === 201);
  t.equal(new Set(issued.map(({ json }) => secretOf(json))).size, 5);
  for (const { status, text } of answers) {
    if (status !== 201) t.match(JSON.parse(text), { status: 409, code: "key_limit_reached" });
  }
  t.equal(await count("select count(*)::int from svc.api_keys where wallet = $1", [bytes(wallet)]), 5);
  t.equal(
    await count("select count(*)::int from svc.orders where wallet = $1 and used_at is null", [
      bytes(wallet),
    ]),
    35,
    "orders that were paid keep their value",
  );

  const more = await send(api, keysPath, { headers, body: { package: "monthly" } });
  t.match(
    more.json,
    { status: 409, code: "key_limit_reached" },
    "no order is made for a key that cannot be had",
  );
  const [first] = issued;
  const keyId = answer.parse(first?.json).key.id;
  const revoked = await send(api, `${keysPath}/revoke`, { headers, body: { keyId } });
  t.equal(revoked.status, 200);
  const left = ids.filter((id) => !issued.some(({ text }) => text.includes(id)));
  t.equal((await askKey(other, headers, left[0] ?? "")).status, 201, "a key that ended makes room");
  t.equal((await askKey(one, headers, left[1] ?? "")).status, 409);
});

t.test("an expired key makes room for another one", async (t) => {
  const { wallet, headers } = await newcomer(api);
  const [last = "", ...ids] = await paidOrders(headers, 6);
  for (const id of ids) t.equal((await askKey(api, headers, id)).status, 201);
  t.equal((await askKey(api, headers, last)).status, 409);
  await db.query(
    `update svc.api_keys set created_at = now() - interval '31 days', expires_at = now() - interval '1 s'
      where id = (select id from svc.api_keys where wallet = $1 limit 1)`,
    [bytes(wallet)],
  );
  t.equal((await askKey(api, headers, last)).status, 201);
});

t.test("the secret is told again for 15 minutes, or until the key is used", async (t) => {
  const { headers } = await newcomer(api);
  const [used = "", late = "", revoked = ""] = await paidOrders(headers, 3);
  const secret = secretOf((await askKey(one, headers, used)).json);
  t.equal(secretOf((await askKey(other, headers, used)).json), secret);
  await api.get(dashboardPath, { "X-Svc-Dev-Key": secret });
  await waitFor("its use is noted", async () => (await askKey(api, headers, used)).status === 409);
  t.match((await askKey(api, headers, used)).json, { code: "payment_already_used" });
  t.equal(
    await count("select count(*)::int from svc.api_keys where order_id = $1 and secret_sealed is not null", [
      idOf("ord").parse(used),
    ]),
    0,
    "what was sealed is gone",
  );

  await askKey(api, headers, late);
  const { rows } = await db.query(
    "select extract(epoch from secret_sealed_until - created_at)::int as seconds from svc.api_keys where order_id = $1",
    [idOf("ord").parse(late)],
  );
  t.same(rows, [{ seconds: 900 }]);
  await db.query("update svc.api_keys set secret_sealed_until = now() where order_id = $1", [
    idOf("ord").parse(late),
  ]);
  t.equal((await askKey(api, headers, late)).status, 409);

  const { key } = answer.parse((await askKey(api, headers, revoked)).json);
  await send(api, `${keysPath}/revoke`, { headers, body: { keyId: key.id } });
  t.equal((await askKey(api, headers, revoked)).status, 409, "a revoked key's secret is nobody's any more");
});

t.test("the summary is a wallet's own, and has no secret", async (t) => {
  const { wallet, headers } = await newcomer(api);
  const key = await buyKey(shop, headers);
  const open = await orderKey(api, headers);
  const summary = await api.get(`/api/v1/svc-dev/summary/${wallet.toLowerCase()}`, headers);
  t.match(summary.json, {
    wallet,
    keys: [{ id: key.id, state: "active" }],
    orders: [
      { id: open.id, status: "open" },
      { id: key.orderId, status: "used" },
    ],
    webhook: null,
    dashboard: { invoices: { open: 0 } },
    limits: { activeKeys: 1, activeKeysMax: 5, webhookFeePaid: false },
  });
  t.notMatch(summary.text, key.secret.slice(8, 40));
  const stranger = await newcomer(api);
  t.equal((await api.get(`/api/v1/svc-dev/summary/${wallet}`, stranger.headers)).status, 403);
  t.equal((await api.get(`/api/v1/svc-dev/summary/${wallet}`)).status, 401);
  t.equal(
    (await send(api, `${keysPath}/revoke`, { headers: stranger.headers, body: { keyId: key.id } })).status,
    403,
  );
  t.equal((await api.get(dashboardPath, { "X-Svc-Dev-Key": key.secret })).status, 200, "it was not revoked");
});
