import t from "tap";
import { z } from "zod";
import type { ApiConfig } from "../../../api/config.ts";
import { reloadInTurn } from "../../helpers/ask-reload.ts";
import { aliceWallet, askNonce, bobWallet, send, sessionPath, signIn } from "./support/sign-in.ts";
import { buyKey, newcomer, orderKey, orderWebhook, startShop } from "./support/start-shop.ts";

const invoicesPath = "/api/v1/svc-dev/v1/invoices";
const tokens = (count: number) => BigInt(count) * 10n ** 18n;

let config: ApiConfig | undefined;
let next: ApiConfig | undefined;
const shop = await startShop(t, {
  change: (shipped) => (config = shipped),
  readAgain: () => (next === undefined ? { problems: ["nothing was written"] } : { config: next }),
});
const { api } = shop;

/** Reloads with what `change` makes of the values before. */
async function take(change: (before: ApiConfig) => Partial<ApiConfig>): Promise<void> {
  if (config === undefined) throw new Error("it has not started");
  config = { ...config, ...change(config) };
  next = config;
  const { body } = await reloadInTurn(api);
  if (body.outcome !== "changed") throw new Error(JSON.stringify(body));
}

t.test("prices: an order that was made keeps its price, the next has the new one", async (t) => {
  const { headers } = await newcomer(api);
  const before = await orderKey(api, headers);
  t.equal(before.amountWei, String(tokens(100)));
  await take(({ svcDev }) => ({
    svcDev: {
      ...svcDev,
      packages: { ...svcDev.packages, monthly: tokens(120) },
      webhookPrice: tokens(3),
      orderSeconds: 60,
    },
  }));
  const after = await orderKey(api, headers);
  t.equal(after.amountWei, String(tokens(120)));
  t.ok(after.validUntilUnix - Date.now() / 1000 <= 61);
  const { json } = await api.get("/api/v1/svc-dev/packages");
  t.match(JSON.stringify(json), String(tokens(120)), "and so is it told to everybody");
  t.equal((await orderWebhook(api, headers)).amountWei, String(tokens(3)));
  const again = await api.get(`/api/v1/svc-dev/orders/${before.id}`, headers);
  t.match(again.json, { order: { amountWei: String(tokens(100)), validUntil: before.validUntil } });
});

t.test("how many orders may be open and how many keys a wallet may have", async (t) => {
  const { headers } = await newcomer(api);
  await buyKey(shop, headers);
  await take(({ svcDev }) => ({ svcDev: { ...svcDev, activeKeysMax: 1 } }));
  const refused = await send(api, "/api/v1/svc-dev/keys", { headers, body: { package: "monthly" } });
  t.equal(refused.status, 409, refused.text);
  await take(({ svcDev }) => ({ svcDev: { ...svcDev, activeKeysMax: 5, openOrdersMax: 1 } }));
  await orderKey(api, headers);
  const second = await send(api, "/api/v1/svc-dev/keys", { headers, body: { package: "monthly" } });
  t.equal(second.status, 429, second.text);
  await take(({ svcDev }) => ({ svcDev: { ...svcDev, openOrdersMax: 20 } }));
});

t.test("sessions: an open one keeps its end, the next lasts as long as the file says by then", async (t) => {
  const expiry = z.object({ session: z.object({ expiresAt: z.string() }) });
  const endOf = async (bearer: Record<string, string>) =>
    Date.parse(expiry.parse((await api.get(sessionPath, bearer)).json).session.expiresAt);
  const before = await signIn(api, aliceWallet);
  const beforeEnds = await endOf(before.bearer);
  await take(({ session }) => ({ session: { ...session, lifetimeSeconds: 600, nonceSeconds: 60 } }));
  const after = await signIn(api, bobWallet);
  t.equal(await endOf(before.bearer), beforeEnds);
  t.ok((await endOf(after.bearer)) <= Date.now() + 601_000);
  t.match(after.setCookie, /Max-Age=600/);
  const nonce = await askNonce(api);
  t.equal(Date.parse(nonce.expirationTime) - Date.parse(nonce.issuedAt), 60_000);
  await take(({ session }) => ({ session: { ...session, noncesPerMinute: 1 } }));
  t.equal((await send(api, `${sessionPath}/nonce`, { body: {} })).status, 429);
  await take(({ session }) => ({ session: { ...session, noncesPerMinute: 1000 } }));
  t.equal(
    (await send(api, `${sessionPath}/nonce`, { body: {} })).status,
    200,
    "who had used it up may again",
  );
});

t.test("invoices: rate, fee and how many may be open", async (t) => {
  const { headers } = await newcomer(api);
  const { secret } = await buyKey(shop, headers);
  const key = { "X-Svc-Dev-Key": secret };
  const create = () => send(api, invoicesPath, { headers: key, body: { amountIdr: 150_000 } });
  const made = async () => {
    const { status, text } = await create();
    t.equal(status, 201, text);
    return text;
  };
  t.match(await made(), "15000");
  await take(({ invoices }) => ({
    invoices: { ...invoices, feeBasisPoints: 100, rates: { ...invoices.rates, idrPerToken: "30000" } },
  }));
  const { text } = await create();
  t.match(text, "30000");
  const { rows } = await shop.db.query("select fee from svc.orders order by created_at desc limit 1");
  t.same(rows, [{ fee: "50000000000000000" }], "1 % of 5 tokens");
  await take(({ invoices }) => ({ invoices: { ...invoices, openMax: 2 } }));
  t.equal((await create()).status, 429);
  await take(({ invoices }) => ({
    invoices: { ...invoices, openMax: 1000, rates: { ...invoices.rates, rateFile: "/nowhere.json" } },
  }));
  t.match(
    (await create()).json,
    { status: 503, detail: /no exchange rate/ },
    "a file that was not read yet has no rate",
  );
  await take(({ ledger, invoices }) => ({
    ledger: { ...ledger, boxesMax: 2 },
    invoices: { ...invoices, rates: { ...invoices.rates, rateFile: "" } },
  }));
  t.match((await create()).json, { status: 503, detail: /no more can be/ });
});

t.test("calls of wallets that pay without a key", async (t) => {
  const call = () =>
    send(api, "/rpc", { body: { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] } });
  t.equal((await call()).status, 200);
  await take(({ payerRpc }) => ({ payerRpc: { ...payerRpc, callsPerMinute: 1, batchItemsMax: 1 } }));
  t.match((await call()).text, /rate_limited|limit/i);
  await take(({ payerRpc }) => ({ payerRpc: { ...payerRpc, callsPerMinute: 600 } }));
  const one = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };
  t.match((await send(api, "/rpc", { body: [one, one] })).text, /at most 1|1 /i);
});

t.test("keys that sign need a restart, and nothing of the file is taken", async (t) => {
  if (config === undefined) throw new Error("it has not started");
  next = {
    ...config,
    svcDev: { ...config.svcDev, webhookPrice: tokens(9), sealingKeyFile: "/elsewhere" },
    payerRpc: { ...config.payerRpc, enabled: false },
  };
  const { status, body } = await reloadInTurn(api);
  t.equal(status, 409);
  t.same(body.problems.toSorted(), [
    "payerRpc.enabled cannot change without a restart",
    "svcDev.sealingKeyFile cannot change without a restart",
  ]);
  const { headers } = await newcomer(api);
  t.equal((await orderWebhook(api, headers)).amountWei, String(tokens(3)));
});
