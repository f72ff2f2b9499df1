import t from "tap";
import { z } from "zod";
import { eventRecord } from "../../../../api/merchant/events/event-record.ts";
import { invoiceRecord } from "../../../../api/merchant/invoices/invoice-record.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { bob } from "../../support/start-world.ts";
import { send } from "../support/sign-in.ts";
import { buyKey, orderKey, payOrder, startShop } from "../support/start-shop.ts";
import { eventsPath, startTeller } from "./support/start-teller.ts";

const shop = await startShop(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const { api, anvil, db } = shop;

const list = z.strictObject({
  data: z.array(eventRecord),
  nextAfter: z.number(),
  hasMore: z.boolean(),
  latest: z.number(),
  removedUpTo: z.number().nullable(),
});
const bodiesOf = async (wallet: string) =>
  (
    await db.query("select body from svc.webhook_events where wallet = $1 order by sequence", [
      Buffer.from(wallet.slice(2), "hex"),
    ])
  ).rows.map(({ body }) => JSON.parse(String(body)));

t.test("a wallet without a webhook reads what one would be told, as it would be told it", async (t) => {
  const teller = await startTeller(t, shop);
  const order = await orderKey(api, teller.headers);
  await payOrder(anvil, order);
  const made = await send(api, "/api/v1/svc-dev/v1/invoices", {
    headers: teller.key,
    body: { amountIdr: 150_000, note: "2 kain\nbatik" },
  });
  const { invoice } = z.object({ invoice: invoiceRecord }).parse(made.json);
  await anvil.rpc("eth_sendTransaction", [
    { from: bob, to: invoice.depositAddress, value: `0x${BigInt(invoice.amountWei).toString(16)}` },
  ]);
  const answer = await waitFor("all is booked", async () => {
    const read = await teller.list();
    return list.parse(read.json).data.length === 3 && read;
  });
  const read = list.parse(answer.json);
  t.match(read, { nextAfter: 3, hasMore: false, latest: 3, removedUpTo: null });
  t.same(
    read.data.map(({ type, sequence }) => `${sequence} ${type}`),
    ["1 payment.completed", "2 payment.completed", "3 invoice.paid"],
  );
  t.match(read.data, [
    { data: { payment: { kind: "api_key", orderId: order.id } } },
    { data: { payment: { kind: "invoice", invoiceId: invoice.id } } },
    { data: { invoice: { id: invoice.id, state: "paid" } } },
  ]);
  t.same(Object(answer.json).data, await bodiesOf(teller.wallet));
});

t.test("pages go on where the one before ended, and wait there for what comes", async (t) => {
  const teller = await startTeller(t, shop);
  t.match((await teller.list()).json, { data: [], nextAfter: 0, hasMore: false, latest: 0 });
  await teller.tell(5);
  const sequences: number[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = list.parse((await teller.list(`?limit=2&after=${after}`)).json);
    sequences.push(...page.data.map(({ sequence }) => sequence));
    ({ nextAfter: after, hasMore } = page);
  }
  t.same(sequences, [1, 2, 3, 4, 5]);
  const end = { data: [], nextAfter: 5, hasMore: false, latest: 5, removedUpTo: null };
  for (const query of ["?after=5", "?after=latest", "?after=999999999999999"])
    t.same((await teller.list(query)).json, end, query);
  await teller.tell();
  t.match((await teller.list("?after=5")).json, { data: [{ sequence: 6 }], nextAfter: 6 });
});

t.test("what was removed for its age is told of, and not skipped in silence", async (t) => {
  const teller = await startTeller(t, shop);
  await teller.tell(4);
  const remove = (upTo: number) =>
    db.query("delete from svc.webhook_events where wallet = $1 and sequence <= $2", [
      Buffer.from(teller.wallet.slice(2), "hex"),
      upTo,
    ]);
  await remove(2);
  t.match((await teller.list()).json, { data: [{ sequence: 3 }, { sequence: 4 }], removedUpTo: 2 });
  t.match((await teller.list("?after=1")).json, { removedUpTo: 2 });
  t.match((await teller.list("?after=2")).json, { data: [{ sequence: 3 }, {}], removedUpTo: null });
  await remove(4);
  t.same((await teller.list("?after=2")).json, {
    ...{ data: [], nextAfter: 4, hasMore: false, latest: 4, removedUpTo: 4 },
  });
  t.match((await teller.list("?after=latest")).json, { removedUpTo: null, nextAfter: 4 });
});

t.test("a page of large events ends early and loses none", async (t) => {
  const teller = await startTeller(t, shop);
  await teller.tell(40, "x".repeat(60_000));
  const sizes: number[] = [];
  const seen: number[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const answer = await teller.list(`?limit=100&after=${after}`);
    const page = list.parse(answer.json);
    sizes.push(answer.text.length);
    seen.push(...page.data.map(({ sequence }) => sequence));
    ({ nextAfter: after, hasMore } = page);
  }
  t.same(
    seen,
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  t.ok(Math.max(...sizes) < 1_200_000, `${Math.max(...sizes)} bytes`);
});

t.test("another wallet's events are not to be had, whatever is asked", async (t) => {
  const [mine, other] = [await startTeller(t, shop), await startTeller(t, shop)];
  await other.tell(3, "Secret");
  for (const query of ["", "?after=0", "?after=1", "?after=latest"]) {
    const { text } = await mine.list(query);
    t.same(JSON.parse(text).data, []);
    t.equal(JSON.parse(text).latest, 0);
  }
  for (const query of [
    "?wallet=x",
    "?after=-1",
    "?after=1.5",
    "?after=",
    "?after=01",
    "?after=1&after=2",
    "?limit=101",
  ])
    t.match(await mine.list(query), { status: 400, json: { code: "invalid_request" } }, query);
  for (const id of ["x", "-1", "1, 2", "9".repeat(16)])
    t.match(await api.get(eventsPath, { ...mine.key, "Last-Event-ID": id }), {
      status: 400,
      json: { errors: [{ pointer: "#/header/Last-Event-ID" }] },
    });
  const looking = await buyKey(shop, mine.headers, { package: "monthly", scopes: ["dashboard:read"] });
  for (const Accept of ["application/json", "text/event-stream"])
    t.match(await api.get(eventsPath, { "X-Svc-Dev-Key": looking.secret, Accept }), {
      status: 403,
      json: { code: "insufficient_scope" },
    });
});

t.test("the type is what the client prefers", async (t) => {
  const teller = await startTeller(t, shop);
  const typeOf = async (accept: string, method = "GET") => {
    const ending = new AbortController();
    const headers = { ...teller.key, Accept: accept };
    const { status, headers: got } = await fetch(`${api.url}${eventsPath}`, {
      ...{ method, headers, signal: ending.signal },
    });
    ending.abort();
    return `${status} ${got.get("content-type")}`;
  };
  const [json, stream] = ["200 application/json; charset=utf-8", "200 text/event-stream; charset=utf-8"];
  t.equal(await typeOf("*/*"), json);
  t.equal(await typeOf("application/json, text/event-stream"), json);
  t.equal(await typeOf("text/event-stream"), stream);
  t.equal(await typeOf("text/event-stream, application/json;q=0.5"), stream);
  t.equal(await typeOf("text/*"), stream);
  t.equal(await typeOf("text/html"), "406 application/problem+json");
  t.equal(await typeOf("text/event-stream;q=0, application/json;q=0"), "406 application/problem+json");
  t.equal(await typeOf("text/event-stream", "HEAD"), "406 application/problem+json", "HEAD has no stream");
  t.equal(await typeOf("*/*", "HEAD"), json);
});
