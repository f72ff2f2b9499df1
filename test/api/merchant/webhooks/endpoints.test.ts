import { Wallet } from "ethers";
import t from "tap";
import { z } from "zod";
import { webhookOrderRecord } from "../../../../api/merchant/orders/order-record.ts";
import { plainSignature, standardSignature } from "../../../../api/merchant/webhooks/sign-webhook.ts";
import { webhookWithSecret } from "../../../../api/merchant/webhooks/webhook-record.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem } from "../../support/problem.ts";
import { send, signIn } from "../support/sign-in.ts";
import { askKey, orderKey, payOrder, startShop } from "../support/start-shop.ts";
import { startReceiver } from "./support/start-receiver.ts";

const shop = await startShop(t, {
  replicas: 2,
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const { api, apis, anvil, db } = shop;
const root = "/api/v1/svc-dev/webhooks";
const someWallet = () => new Wallet(Wallet.createRandom().privateKey);
type Bearer = Record<string, string>;
const post = (bearer: Bearer, path: string, body: object = {}) =>
  send(api, `${root}${path}`, { headers: bearer, body });
const orderOf = (json: unknown) => z.object({ order: webhookOrderRecord }).parse(json).order;
const secretOf = (json: unknown) => z.object({ webhook: webhookWithSecret }).parse(json).webhook.secret;
const deliveries = z.object({
  data: z.array(z.object({ eventId: z.string(), type: z.string(), state: z.string(), sequence: z.number() })),
  nextBefore: z.number().nullable(),
});
const listed = async (bearer: Bearer, query = "") =>
  deliveries.parse((await api.get(`${root}/deliveries${query}`, bearer)).json);

/** A wallet that is signed in, its receiver, and its webhook's secret. */
async function startMerchant() {
  const wallet = someWallet();
  const { bearer } = await signIn(api, wallet);
  const receiver = await startReceiver(t);
  const order = orderOf((await post(bearer, "", { url: receiver.url })).json);
  await payOrder(anvil, order);
  const saved = await waitFor("the fee is booked", async () => {
    const answer = await post(bearer, "", { url: receiver.url, orderId: order.id });
    return answer.status === 201 && answer;
  });
  return { wallet, bearer, receiver, order, secret: secretOf(saved.json) };
}

t.test("the first URL costs one token: an order, its payment, then the secret", async (t) => {
  const wallet = someWallet();
  const { bearer } = await signIn(api, wallet);
  const receiver = await startReceiver(t);
  const summary = () => api.get(`/api/v1/svc-dev/summary/${wallet.address}`, bearer);
  t.match((await summary()).json, { webhook: null, limits: { webhookFeePaid: false } });
  const asked = await post(bearer, "", { url: receiver.url });
  t.match(asked.json, { status: 402, code: "payment_required", detail: /orderId/ });
  const order = orderOf(asked.json);
  t.match(order, {
    kind: "webhook_url",
    status: "open",
    amount: "1",
    burnedWei: "300000000000000000",
    source: "svc_dev",
  });
  t.equal(asked.headers.get("location"), `/api/v1/svc-dev/orders/${order.id}`);
  t.same(orderOf((await api.get(`/api/v1/svc-dev/orders/${order.id}`, bearer)).json), order);
  t.equal(
    orderOf((await post(bearer, "", { url: receiver.url })).json).id,
    order.id,
    "who asks again pays the same",
  );
  t.equal(order.url, receiver.url);
  const mistyped = orderOf((await post(bearer, "", { url: `${receiver.url}/other` })).json);
  t.same([mistyped.id, mistyped.url], [order.id, `${receiver.url}/other`], "it is told which URL it is for");
  const key = await orderKey(api, bearer);
  t.match(
    (await summary()).json,
    { orders: [{ id: key.id, kind: "api_key" }, mistyped], limits: { webhookFeePaid: false } },
    "it stands among the wallet's orders",
  );
  const unpaid = await post(bearer, "", { url: receiver.url, orderId: order.id });
  t.same([unpaid.status, unpaid.headers.get("retry-after")], [402, "2"]);
  t.equal((await post(bearer, "/test")).status, 404);

  await payOrder(anvil, order);
  await waitFor("the fee is booked", async () => (await summary()).text.includes('"webhookFeePaid":true'));
  t.match((await summary()).json, { webhook: null }, "it is paid before there is a webhook");
  const saved = await post(bearer, "", { url: receiver.url, orderId: order.id });
  t.equal(saved.status, 201);
  t.match(saved.json, { webhook: { url: receiver.url, state: "active", wallet: wallet.address } });
  const again = await post(bearer, "", { url: receiver.url, orderId: order.id });
  t.same([again.status, secretOf(again.json)], [201, secretOf(saved.json)], "who lost the answer asks again");
  const { webhook, limits } = z
    .object({ webhook: z.looseObject({}), limits: z.looseObject({}) })
    .parse((await summary()).json);
  t.match(webhook, { url: receiver.url, state: "active" });
  t.notOk("secret" in webhook);
  t.match(limits, { webhookFeePaid: true });

  const moved = await post(bearer, "", { url: `${receiver.url}/2` });
  t.equal(moved.status, 200, "changing it costs nothing");
  t.notMatch(moved.text, /whsec_/);
  t.match(moved.json, { webhook: { url: `${receiver.url}/2` } });
  const late = await post(bearer, "", { url: `${receiver.url}/2`, orderId: order.id });
  t.equal(late.status, 200);
  t.notMatch(late.text, /whsec_/, "the secret is not told again after a change");
  const { rows } = await db.query("select secret_sealed from svc.webhook_endpoints");
  t.notMatch(JSON.stringify(rows), secretOf(saved.json));
});

t.test("a payment is told of, signed, and stands in the log", async (t) => {
  const { bearer, receiver, secret, wallet } = await startMerchant();
  const order = await orderKey(api, bearer);
  const txHash = await payOrder(anvil, order);
  const got = await waitFor("it is told of", () => receiver.received[0]);
  t.match(JSON.parse(got.body), {
    type: "payment.completed",
    // The webhook's own fee was the first.
    sequence: 2,
    data: { payment: { kind: "api_key", orderId: order.id, amount: "100", txHash } },
  });
  t.equal(got.headers["x-svc-signature"], plainSignature(secret, got.body));
  const log = await waitFor("it is delivered", async () => {
    const page = await listed(bearer);
    return page.data[0]?.state === "delivered" && page;
  });
  t.match(log, { data: [{ type: "payment.completed", sequence: 2 }], nextBefore: null });
  const one = await api.get(`${root}/deliveries/${log.data[0]?.eventId}`, bearer);
  t.match(one.json, { delivery: { body: got.body, log: [{ number: 1, status: 204, error: null }] } });
  t.equal((await askKey(api, bearer, order.id)).status, 201);
  const { bearer: other } = await signIn(api, someWallet());
  t.equal((await api.get(`${root}/deliveries/${log.data[0]?.eventId}`, other)).status, 404);
  t.same((await listed(other)).data, []);
  t.ok(wallet.address);
});

t.test("a test is sent at once, tells what was answered, and is limited", async (t) => {
  const { bearer, receiver } = await startMerchant();
  receiver.answers((response) => response.writeHead(418).end("a teapot"));
  const tested = await post(bearer, "/test");
  t.match(tested.json, {
    event: { type: "webhook.test" },
    attempt: { status: 418, error: null, answerStart: "a teapot" },
  });
  t.match(JSON.parse(receiver.received[0]?.body ?? ""), { type: "webhook.test", data: { message: /test/ } });
  t.match(await listed(bearer), { data: [{ type: "webhook.test", state: "dead" }] });
  t.match((await api.get(`${root}/deliveries?state=waiting`, bearer)).json, { data: [], nextBefore: null });
  for (let count = 1; count < 10; count += 1) await post(bearer, "/test");
  const refused = await post(bearer, "/test");
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers.get("retry-after")) > 0);
  t.equal(receiver.received.length, 10);
  const first = await listed(bearer, "?limit=4");
  const second = await listed(bearer, `?limit=4&before=${first.nextBefore}`);
  t.same(
    [...first.data, ...second.data].map(({ sequence }) => sequence),
    [11, 10, 9, 8, 7, 6, 5, 4],
  );
});

t.test("a secret is changed with an overlap", async (t) => {
  const { bearer, receiver, secret } = await startMerchant();
  const rotated = await post(bearer, "/rotate");
  t.match(rotated.json, { webhook: { rotatingUntilUnix: Number } });
  const next = secretOf(rotated.json);
  t.not(next, secret);
  const newest = async () => {
    await post(bearer, "/test");
    const got = receiver.received.at(-1);
    if (got === undefined) throw new Error("it was sent");
    const { "webhook-id": id, "webhook-timestamp": at } = got.headers;
    const standard = (key: string) =>
      standardSignature({ secret: key, id: String(id), atUnix: Number(at), body: got.body });
    return { ...got, standard };
  };
  const both = await newest();
  t.equal(both.headers["webhook-signature"], `${both.standard(secret)} ${both.standard(next)}`);
  t.equal(both.headers["x-svc-signature"], plainSignature(secret, both.body));
  t.equal(both.headers["x-svc-signature-next"], plainSignature(next, both.body));
  const third = secretOf((await post(bearer, "/rotate")).json);
  const still = await newest();
  t.equal(
    still.headers["webhook-signature"],
    `${still.standard(secret)} ${still.standard(third)}`,
    "the old one stays",
  );
  const isNewOnly = async () => {
    const only = await newest();
    t.equal(only.headers["webhook-signature"], only.standard(third));
    t.equal(only.headers["x-svc-signature"], plainSignature(third, only.body));
    t.notOk("x-svc-signature-next" in only.headers);
  };
  await db.query(
    "update svc.webhook_endpoints set next_since = now() - interval '24 hours' where next_since is not null",
  );
  await isNewOnly();
  t.match((await post(bearer, "/rotate/finish")).json, { webhook: { rotatingUntil: null } });
  await isNewOnly();
  t.match(
    (await post(bearer, "/rotate/finish")).json,
    { webhook: { rotatingUntil: null } },
    "again it changes nothing",
  );
  await isNewOnly();
});

t.test("what is disabled is enabled, and what was missed is sent again", async (t) => {
  const { bearer, receiver, wallet } = await startMerchant();
  receiver.answers((response) => response.writeHead(410).end());
  await payOrder(anvil, await orderKey(api, bearer));
  const summary = async () => (await api.get(`/api/v1/svc-dev/summary/${wallet.address}`, bearer)).text;
  await waitFor("it is disabled", async () => (await summary()).includes('"disabledWhy":"gone"'));
  t.match((await post(bearer, "/replay", { since: 0 })).json, { status: 400, code: "request_refused" });
  await payOrder(anvil, await orderKey(api, bearer));
  await waitFor("it is booked", async () => {
    const { rows } = await db.query("select 1 from svc.webhook_events where wallet = decode($1, 'hex')", [
      wallet.address.slice(2),
    ]);
    return rows.length === 3;
  });
  t.equal(receiver.received.length, 1, "nothing is sent meanwhile");
  receiver.answers((response) => response.writeHead(204).end());
  t.match((await post(bearer, "/enable")).json, { webhook: { state: "active", disabledAt: null } });
  const replayed = await post(bearer, "/replay", { since: "2020-01-01T00:00:00Z" });
  t.same([replayed.status, Object(replayed.json).replayed, Object(replayed.json).hasMore], [202, 3, false]);
  await waitFor("all three have arrived", () => receiver.received.length === 4);
  const ids = receiver.received.map(({ headers }) => String(headers["webhook-id"]));
  t.equal(new Set(ids).size, 3, "the same id again");
  await waitFor(
    "all are delivered",
    async () => (await listed(bearer, "?state=delivered")).data.length === 3,
  );
  t.match((await post(bearer, "/replay", { eventId: ids[0] })).json, { replayed: 1 });
  await waitFor("it has arrived", () => receiver.received.length === 5);
  t.equal(receiver.received.at(-1)?.body, receiver.received[0]?.body);
  const { bearer: other } = await startMerchant();
  t.equal((await post(other, "/replay", { eventId: ids[0] })).status, 404);
});

t.test("what is wrong with a request is told, and saves nothing", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const cases: [string, unknown, string[]][] = [
    ["", {}, ["/url"]],
    ["", { url: "hook" }, ["/url"]],
    ["", { url: "http://u:p@shop.example/" }, ["/url"]],
    ["", { url: "http://shop.example:22/" }, ["/url"]],
    ["", { url: "ftp://shop.example/" }, ["/url"]],
    ["", { url: `https://shop.example/${"x".repeat(500)}` }, ["/url"]],
    ["", { url: "https://shop.example/\u0000" }, ["/url"]],
    ["", { url: "https://shop.example/", orderId: "1" }, ["/orderId"]],
    ["/replay", {}, [""]],
    ["/replay", { eventId: `evt_${"0".repeat(22)}`, since: 0 }, [""]],
    ["/replay", { since: "yesterday" }, ["/since"]],
    ["/test", { url: "x" }, ["/url"]],
  ];
  for (const [path, body, pointers] of cases) {
    const answer = await send(api, `${root}${path}`, { headers: bearer, body });
    t.equal(answer.status, 400, JSON.stringify(body));
    t.same(
      problem.parse(answer.json).errors?.map(({ pointer }) => pointer),
      pointers,
      answer.text,
    );
  }
  const unknown = await post(bearer, "", { url: "https://shop.example/", orderId: `ord_${"0".repeat(22)}` });
  t.equal(unknown.status, 404);
  const { order } = await startMerchant();
  t.equal((await post(bearer, "", { url: "https://shop.example/", orderId: order.id })).status, 403);
  for (const path of ["/test", "/rotate", "/rotate/finish", "/enable"])
    t.equal((await post(bearer, path)).status, 404, path);
});

t.test("one order is one webhook, however many ask at once", async (t) => {
  const { bearer } = await signIn(api, someWallet());
  const receiver = await startReceiver(t);
  const orders = await Promise.all(
    Array.from({ length: 10 }, async () => orderOf((await post(bearer, "", { url: receiver.url })).json).id),
  );
  t.equal(new Set(orders).size, 1, "one order");
  const order = orderOf((await post(bearer, "", { url: receiver.url })).json);
  await payOrder(anvil, order);
  await waitFor("it is paid", async () =>
    (await api.get(`/api/v1/svc-dev/orders/${order.id}`, bearer)).text.includes('"status":"paid"'),
  );
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      send(apis[index % 2] ?? api, root, { headers: bearer, body: { url: receiver.url } }),
    ),
  );
  t.equal(
    answers.filter(({ status }) => status === 201).length,
    1,
    "without the order's id the paid one is taken",
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 19);
});
