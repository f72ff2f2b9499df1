import { Wallet } from "ethers";
import t from "tap";
import { z } from "zod";
import { orderRecord } from "../../../../api/merchant/orders/order-record.ts";
import { feeCollectorInterface } from "../../../../lib/fee-collector/artifacts.ts";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { send, signIn } from "../support/sign-in.ts";
import { askKey, keysPath, markPaid, orderKey, startShop } from "../support/start-shop.ts";

const clock = { ms: Date.now() };
const shop = await startShop(t, { now: () => clock.ms });
const { api, db } = shop;
const someWallet = () => new Wallet(Wallet.createRandom().privateKey);
const orderPath = (id: string) => `/api/v1/svc-dev/orders/${id}`;
const orderOf = (json: unknown) => z.object({ order: orderRecord }).parse(json).order;

t.test("a key is first an order: signed, with the transaction that a wallet sends unchanged", async (t) => {
  const wallet = someWallet();
  const { bearer } = await signIn(api, wallet);
  const answer = await send(api, keysPath, {
    headers: bearer,
    body: { package: "quarterly", label: "toko Sari", scopes: ["invoices:read"] },
  });
  t.equal(answer.status, 402, answer.text);
  t.match(answer.json, { code: "payment_required", status: 402, detail: /orderId/ });
  const order = orderOf(answer.json);
  t.equal(answer.headers.get("location"), orderPath(order.id));
  const { timestamp } = z
    .object({ timestamp: z.string() })
    .parse(await shop.anvil.rpc("eth_getBlockByNumber", ["latest", false]));
  // A dev chain's time may be ahead.
  const validUntilUnix = Math.max(Math.floor(clock.ms / 1000), Number(timestamp)) + 1800;
  t.match(order, {
    ...{ kind: "api_key", status: "open", package: "quarterly", label: "toko Sari", source: "svc_dev" },
    ...{ amount: "270", amountWei: "270000000000000000000", feeWei: "270000000000000000000" },
    ...{ burnedWei: "81000000000000000000", token: { symbol: "TEST", decimals: 18 }, chainId: 8845 },
    ...{ contract: developmentFeeSettings.feeCollector, validUntilUnix, paidAt: null },
    transaction: { to: developmentFeeSettings.feeCollector, chainId: "0x228d" },
  });
  t.equal(BigInt(order.transaction?.value ?? 0), 270n * 10n ** 18n);
  const call = feeCollectorInterface.parseTransaction({ data: order.transaction?.data ?? "" });
  t.equal(call?.name, "pay");
  t.same(orderOf((await api.get(orderPath(order.id), bearer)).json), order, "it can be looked at again");
});

t.test("packages cost what was published, for anybody", async (t) => {
  const { json } = await api.get("/api/v1/svc-dev/packages");
  t.match(json, {
    data: [
      { package: "monthly", days: 30, amount: "100", amountWei: `1${"0".repeat(20)}` },
      { package: "quarterly", days: 90, amount: "270", burnedWei: "81000000000000000000" },
      {
        package: "yearly",
        days: 365,
        amount: "900",
        scopes: ["dashboard:read", "invoices:read", "invoices:write"],
      },
    ],
  });
});

t.test("an order is its wallet's alone", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const order = await orderKey(api, bearer);
  const { bearer: other } = await signIn(api, someWallet());
  t.equal((await api.get(orderPath(order.id), other)).status, 403);
  t.equal((await askKey(api, other, order.id)).status, 403);
  t.equal((await api.get(orderPath(order.id))).status, 401);
  t.equal((await send(api, keysPath, { body: { package: "monthly" } })).status, 401);
  t.equal((await api.get(orderPath(`ord_${"0".repeat(22)}`), bearer)).status, 404);
  t.equal((await askKey(api, bearer, `ord_${"0".repeat(22)}`)).status, 404);
});

t.test("an order ends when its time is over, keeps what was paid, and makes room for others", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const orders = [];
  for (let count = 0; count < 20; count += 1) orders.push(await orderKey(api, bearer));
  const [first, second] = orders;
  if (first === undefined || second === undefined) throw new Error("there are twenty");
  const refused = await send(api, keysPath, { headers: bearer, body: { package: "monthly" } });
  t.equal(refused.status, 429, refused.text);
  t.ok(Number(refused.headers.get("retry-after")) > 1700);
  await markPaid(db, first.id);
  await orderKey(api, bearer);
  clock.ms = (orders.at(-1)?.validUntilUnix ?? 0) * 1000 + 1000;
  const unpaid = await askKey(api, bearer, second.id);
  t.match(unpaid.json, {
    status: 402,
    detail: /has expired/,
    order: { status: "expired", transaction: null },
  });
  t.equal(orderOf((await api.get(orderPath(first.id), bearer)).json).status, "paid");
  t.equal((await askKey(api, bearer, first.id)).status, 201, "what was paid is good after the order's time");
  t.equal(orderOf((await api.get(orderPath(first.id), bearer)).json).status, "used");
  await orderKey(api, bearer);
});

t.test("what is not paid is 402 again, and says when to ask", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const order = await orderKey(api, bearer);
  const answer = await askKey(api, bearer, order.id);
  t.same([answer.status, answer.headers.get("retry-after")], [402, "2"]);
  t.same(orderOf(answer.json), order);
  const unknown = await askKey(api, bearer, order.id, { txHash: `0x${"ab".repeat(32)}` });
  t.match(unknown.json, { status: 402, detail: /not mined yet/ });
});

t.test("what is wrong with an order's request is told field by field, and makes none", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const cases: [unknown, string[]][] = [
    [{}, ["/package"]],
    [{ package: "weekly" }, ["/package"]],
    [{ package: "monthly", label: "x".repeat(61) }, ["/label"]],
    [{ package: "monthly", label: "a\u0000b" }, ["/label"]],
    [{ package: "monthly", label: "\ud800" }, ["/label"]],
    [{ package: "monthly", scopes: [] }, ["/scopes"]],
    [{ package: "monthly", scopes: ["dashboard:read", "dashboard:read"] }, ["/scopes"]],
    [{ package: "monthly", scopes: ["all"] }, ["/scopes/0"]],
    [{ package: "monthly", txHash: `0x${"ab".repeat(32)}` }, ["/txHash"]],
    [{ orderId: "1" }, ["/orderId"]],
    [{ orderId: `ord_${"z".repeat(22)}` }, ["/orderId"]],
    [{ orderId: `ord_${"0".repeat(22)}`, package: "monthly", label: "" }, ["/package", "/label"]],
    [{ package: "monthly", price: 1 }, ["/price"]],
    [[], [""]],
  ];
  for (const [body, pointers] of cases) {
    const answer = await send(api, keysPath, { headers: bearer, body });
    t.equal(answer.status, 400, JSON.stringify(body));
    t.notMatch(answer.text, wordsOfLibraries);
    t.same(
      problem.parse(answer.json).errors?.map(({ pointer }) => pointer),
      pointers,
      answer.text,
    );
  }
  const { rows } = await db.query(
    "select count(*)::int as orders from svc.orders o where created_at > now() - interval '1 s' and request->>'label' like 'x%'",
  );
  t.same(rows, [{ orders: 0 }]);
  const label = "Toko “Sari” 👩‍🍳 ".repeat(3);
  t.equal((await orderKey(api, bearer, { package: "yearly", label })).label, label);
});
