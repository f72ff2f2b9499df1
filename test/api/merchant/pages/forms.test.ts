import { Wallet } from "ethers";
import t from "tap";
import { z } from "zod";
import { merchantRoutes } from "../../../../api/merchant/pages/create-merchant-pages.ts";
import { startTcpProxy } from "../../../fakes/tcp-proxy.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startServices } from "../../support/start-world.ts";
import { signIn } from "../support/sign-in.ts";
import { buyKey, markPaid, orderKey, startShop } from "../support/start-shop.ts";

const { anvil, ...services } = await startServices(t);
/** A store that a test can take away. */
async function cuttable(address: string) {
  const url = new URL(address);
  const port = Number(url.port);
  const { port: ownPort, stop } = await startTcpProxy({
    port: () => port,
    answer: (client, data) => client.write(data),
  });
  url.port = String(ownPort);
  t.teardown(stop);
  return { url: url.href, stop };
}

const [postgres, redis] = await Promise.all([cuttable(services.postgresUrl), cuttable(services.redisUrl)]);
const { api, db } = await startShop(t, {
  given: { ...services, anvil },
  change: (config) => ({
    ...config,
    redis: redis.url,
    postgres: { ...config.postgres, url: postgres.url },
  }),
});
const ours = "http://127.0.0.1:4000";
const html = { Accept: "text/html" };

/** Somebody new with a session. */
async function somebody() {
  const { cookie, bearer } = await signIn(api, new Wallet(Wallet.createRandom().privateKey));
  const own = { ...html, Cookie: cookie };
  return {
    own,
    bearer,
    get: (path: string, headers = {}) => api.get(path, { ...own, ...headers }),
    async post(
      path: string,
      form: Record<string, string> | URLSearchParams = {},
      headers: object = { Origin: ours },
    ) {
      const response = await fetch(`${api.url}${path}`, {
        method: "POST",
        headers: { ...own, ...headers },
        body: new URLSearchParams(form),
        redirect: "manual",
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

/** Without Redis nobody signs in. */
const early = await somebody();
const wanted = { package: "monthly", label: "Shop", scope: "dashboard:read" };

t.test("every page asks who has not signed in to do so, and no page is kept", async (t) => {
  for (const { method, path } of merchantRoutes) {
    const at = path.replace(":id", "ord_0000000000000000000000");
    const response = await fetch(`${api.url}${at}`, {
      ...{ method, redirect: "manual", headers: { ...html, Origin: ours } },
      ...(method === "POST" ? { body: new URLSearchParams() } : {}),
    });
    const text = await response.text();
    t.equal(response.status, at === "/merchant" ? 200 : 401, `${method} ${at}`);
    t.match(text, 'id="sign-in"');
    t.equal(response.headers.get("cache-control"), "no-store");
    t.match(
      response.headers.get("content-security-policy"),
      /^default-src 'none'; script-src 'self'.*frame-ancestors 'none'/,
    );
    t.equal(response.headers.get("referrer-policy"), "same-origin");
  }
  const ended = await api.get("/merchant", { ...html, Cookie: "svc_session=gone" });
  t.match(ended.text, "Your session has ended: sign in again.");
});

t.test(
  "the address of a message is told as EIP-55 writes it, and nothing is made of what is none",
  async (t) => {
    const { address } = Wallet.createRandom();
    const { text } = await api.get(`/merchant?address=${address.toLowerCase()}`, html);
    t.match(text, `data-address="${address}"`);
    for (const wrong of ["0x12", '"><b>', `0x${"g".repeat(40)}`]) {
      const answer = await api.get(`/merchant?address=${encodeURIComponent(wrong)}`, html);
      t.match(answer.text, 'data-address=""');
      t.notMatch(answer.text, "<b>");
    }
  },
);

t.test("a form is taken from our own page alone", async (t) => {
  const { post, bearer } = await somebody();
  const key = await buyKey({ api, db }, bearer);
  const foreign: object[] = [
    {},
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ];
  const posts = merchantRoutes.filter(({ method }) => method === "POST").map(({ path }) => path);
  t.ok(posts.length >= 6);
  for (const path of posts) {
    for (const headers of foreign) {
      const answer = await post(path.replace(":id", key.id), wanted, headers);
      t.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      t.match(answer.text, "This form was not sent from this page");
    }
  }
  const summary = await api.get(`/api/v1/svc-dev/session`, bearer);
  t.equal(summary.status, 200, "nobody was signed out");
  for (const headers of [{ Origin: ours }, { "Sec-Fetch-Site": "same-origin" }]) {
    t.equal((await post("/merchant/orders", wanted, headers)).status, 303);
  }
});

t.test("what is another wallet's is not there", async (t) => {
  const [one, other] = [await somebody(), await somebody()];
  const key = await buyKey({ api, db }, one.bearer, { package: "monthly", label: "Secret plan" });
  const order = await orderKey(api, one.bearer, { package: "monthly", label: "Secret order" });
  await markPaid(db, order.id);
  const answers = [
    await other.get(`/merchant/orders/${order.id}`),
    await other.post(`/merchant/orders/${order.id}/key`),
    await other.get(`/merchant/keys/${key.id}/revoke`),
    await other.post(`/merchant/keys/${key.id}/revoke`),
    await other.get("/merchant/orders/ord_0000000000000000000000"),
    await other.get("/merchant/orders/x"),
  ];
  for (const { status, text } of answers) {
    t.equal(status, 404);
    t.notMatch(text, /Secret|svc_dev_/);
  }
  t.match((await one.get("/merchant")).text, "You have paid for a key and not taken it yet: Secret order.");
});

t.test("a form with what cannot be says what, and keeps what was typed", async (t) => {
  const { post } = await somebody();
  for (const [change, says] of [
    [{ package: "forever" }, "Choose one of the packages."],
    [{ label: "x".repeat(61) }, "A name has at most 60 characters, and no line breaks."],
    [{ label: "a\u0000b" }, "A name has at most 60 characters, and no line breaks."],
    [{ scope: "all" }, "Choose at least one thing that the key may do."],
  ] as const) {
    const { status, text } = await post("/merchant/orders", { ...wanted, label: "<i>Kept", ...change });
    t.equal(status, 400);
    t.match(text, says);
    if (!("label" in change)) t.match(text, 'value="&lt;i&gt;Kept"');
  }
  t.equal((await post("/merchant/orders", {})).status, 400, "and so does an empty one");
  const both = new URLSearchParams(wanted);
  both.append("scope", "invoices:read");
  t.equal((await post("/merchant/orders", both)).status, 303, "two boxes are a list");
});

t.test("the same order twice is one, whatever the order of its scopes; another is another", async (t) => {
  const { post } = await somebody();
  const where = async (form: Record<string, string> | URLSearchParams) =>
    (await post("/merchant/orders", form)).headers.get("location");
  const first = await where(wanted);
  t.match(first, /^\.\.\/merchant\/orders\/ord_/);
  t.equal(await where(wanted), first);
  t.not(await where({ ...wanted, label: "Other" }), first);
});

t.test("a key is taken once it is paid, once, and not beyond the limit", async (t) => {
  const { get, post, bearer } = await somebody();
  const order = await orderKey(api, bearer);
  const early = await post(`/merchant/orders/${order.id}/key`);
  t.equal(early.status, 402);
  t.match(early.text, "This order is not paid yet");
  await markPaid(db, order.id);
  const issued = await post(`/merchant/orders/${order.id}/key`);
  t.equal(issued.status, 200);
  t.equal(issued.headers.get("cache-control"), "no-store");
  const [secret = ""] = /svc_dev_[0-9A-Za-z]{40,}/.exec(issued.text) ?? [];
  t.equal((await api.get("/api/v1/svc-dev/v1/dashboard", { "X-Svc-Dev-Key": secret })).status, 200);
  const again = await post(`/merchant/orders/${order.id}/key`);
  t.equal(again.status, 409, "after its first use it is shown to nobody");
  t.notMatch(again.text, secret);
  const moved = await fetch(`${api.url}/merchant/orders/${order.id}/key`, {
    headers: { ...html, Authorization: bearer.Authorization },
    redirect: "manual",
  });
  t.equal(moved.headers.get("location"), `../../../merchant/orders/${order.id}`);

  const late = await orderKey(api, bearer);
  for (let count = 1; count < 5; count += 1) await buyKey({ api, db }, bearer);
  t.match((await get("/merchant/buy")).text, "You have 5 active keys, which is the most.");
  t.equal((await post("/merchant/orders", wanted)).status, 409);
  await markPaid(db, late.id);
  const full = await post(`/merchant/orders/${late.id}/key`);
  t.equal(full.status, 409);
  t.match(full.text, "Your order keeps its value");
  t.match((await get("/merchant")).text, "You have paid for a key and not taken it yet");
});

t.test("a payment that a link names is followed only where it is this order's", async (t) => {
  const { get, bearer } = await somebody();
  const order = await orderKey(api, bearer);
  const to = order.contract;
  const [payer = "", friend = ""] = z.array(z.string()).parse(await anvil.rpc("eth_accounts"));
  const other = await anvil.rpc("eth_sendTransaction", [{ from: payer, to: friend, value: "0x1" }]);
  const at = `/merchant/orders/${order.id}`;
  t.match((await get(`${at}?tx=${other}`)).text, 'data-payment="none"');
  const failing = { from: payer, to, gas: "0x493e0", ...order.transaction, value: "0x1" };
  const reverted = await anvil.rpc("eth_sendTransaction", [failing]).catch((error: unknown) => String(error));
  const page = await get(`${at}?tx=${/0x[0-9a-f]{64}/.exec(String(reverted))?.[0]}`);
  t.match(page.text, 'data-payment="reverted"');
  t.match(page.text, "The payment did not go through, and nothing was taken. It was not exactly the price.");
  t.match((await get(`${at}?tx=0x${"ab".repeat(32)}`)).text, 'data-payment="unknown"');
  t.match((await get(`${at}?tx=<b>`)).text, 'data-payment="none"');
});

t.test("sessions are listed and ended, one's own by signing out", async (t) => {
  const { get, post, bearer } = await somebody();
  t.match((await get("/merchant/sessions")).text, "This one");
  t.equal((await post("/merchant/sessions/nothing/end")).status, 303, "one that is not there is ended");
  const out = await post("/merchant/sign-out");
  t.equal(out.status, 303);
  t.match(out.headers.get("set-cookie"), /^svc_session=; Max-Age=0/);
  t.equal((await api.get("/api/v1/svc-dev/session", bearer)).status, 401);
});

t.test("an order that was not paid in time says so, and is paid no more", async (t) => {
  const { get, bearer } = await somebody();
  const order = await orderKey(api, bearer);
  // An hour after the chain's newest block.
  await anvil.rpc("evm_increaseTime", [3600]);
  await anvil.rpc("evm_mine");
  const at = `/merchant/orders/${order.id}`;
  await waitFor("the order has run out", async () => (await get(at)).text.includes('data-status="expired"'));
  const { text } = await get(at);
  t.match(text, "This order was not paid in time. Nothing was taken.");
  t.match(text, "Make a new order");
  t.notMatch(text, /id="pay"|Pay without this page/);
  for (const path of ["/merchant", "/merchant/keys"]) t.notMatch((await get(path)).text, order.id);
});

t.test("without Redis nothing is sold, and a key is revoked in part, which the page says", async (t) => {
  const { get, post, bearer } = await somebody();
  const key = await buyKey({ api, db }, bearer, { package: "monthly", label: "Leaked" });
  await redis.stop();
  await waitFor("Redis is missed", async () =>
    (await (await fetch(`${api.opsUrl}/readyz`)).text()).includes("Redis"),
  );
  const order = await post("/merchant/orders", wanted);
  t.equal(order.status, 503);
  t.match(order.text, "Keys cannot be bought at the moment.");
  t.match(order.text, 'value="Shop"', "what was typed is kept");
  const revoked = await post(`/merchant/keys/${key.id}/revoke`);
  t.equal(revoked.status, 503);
  t.match(revoked.text, "The key is revoked, but not everybody knows it yet");
  t.match((await get("/merchant/keys")).text, /Leaked[\s\S]*Revoked/);
});

t.test("while PostgreSQL is away the page says so, and tries again", async (t) => {
  const { get, post } = early;
  await postgres.stop();
  const { status, text } = await get("/merchant");
  t.equal(status, 503);
  t.match(text, "Your pages cannot be shown at the moment");
  t.match(text, 'data-retry-seconds="5"');
  t.equal((await post("/merchant/orders", wanted)).status, 503);
});
