import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Wallet } from "ethers";
import t, { type Test } from "tap";
import { z } from "zod";
import { exampleOfChecking } from "../../../../api/merchant/pages/pages/webhooks/webhook-secret-page.ts";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { plainSignature } from "../../../../api/merchant/webhooks/sign-webhook.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { send, signIn } from "../support/sign-in.ts";
import { buyKey, orderKey, orderWebhook, payOrder, startShop } from "../support/start-shop.ts";
import { startReceiver } from "../webhooks/support/start-receiver.ts";

/* The pages of webhooks without scripts: forms alone do all of it. */

const shop = await startShop(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const { api, anvil, db } = shop;
const ours = "http://127.0.0.1:4000";
const home = "/merchant/webhooks";

type Answer = { status: number; headers: Headers; text: string };

async function somebody() {
  const { cookie, bearer } = await signIn(api, new Wallet(Wallet.createRandom().privateKey));
  const own = { Accept: "text/html", Cookie: cookie };
  return {
    bearer,
    get: (path: string, headers = {}) => api.get(path, { ...own, ...headers }),
    async post(path: string, form: Record<string, string> = {}): Promise<Answer> {
      const response = await fetch(`${api.url}${path}`, {
        ...{ method: "POST", headers: { ...own, Origin: ours }, redirect: "manual" },
        body: new URLSearchParams(form),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

/** Where an answer leads, from the root. */
function leadsTo(t: Test, answer: Answer): string {
  t.equal(answer.status, 303, answer.text.slice(0, 2000));
  return `/${(answer.headers.get("location") ?? "").replace(/^(?:\.\.?\/)+/, "")}`;
}
const secretIn = (text: string) => {
  const [secret = ""] = /whsec_[A-Za-z0-9+/=]{40,}/.exec(text) ?? [];
  return secret;
};

/** Somebody with a webhook, bought by forms. */
async function startMerchant(t: Test) {
  const who = await somebody();
  const receiver = await startReceiver(t);
  const at = leadsTo(t, await who.post(home, { url: receiver.url }));
  await pay(who, at);
  const taken = await who.post(`${at}/webhook`);
  t.equal(taken.status, 200, taken.text);
  return { ...who, receiver, at, secret: secretIn(taken.text) };
}

const checking = z.custom<(body: unknown, signature: unknown) => boolean>(
  (value) => typeof value === "function",
);
const paid = z.object({ order: z.looseObject({ transaction: z.looseObject({}) }) });

async function pay({ get, bearer }: Somebody, at: string): Promise<void> {
  const { json } = await api.get(`/api/v1/svc-dev${at.replace("/merchant", "")}`, bearer);
  await payOrder(anvil, paid.parse(json).order);
  await waitFor("the fee is booked", async () => (await get(at)).text.includes('data-status="paid"'));
}

t.test("the first URL is bought on the order's page, and its secret is shown once", async (t) => {
  const who = await somebody();
  const { get, post, bearer } = who;
  const receiver = await startReceiver(t);
  const first = await get(home);
  t.match(first.text, "The first URL costs 1 TEST, once.");
  t.match(first.text, 'aria-current="page">Webhooks</a>');
  const at = leadsTo(t, await post(home, { url: `${receiver.url}/typo` }));
  t.match(at, /^\/merchant\/orders\/ord_/);
  t.equal(leadsTo(t, await post(home, { url: receiver.url })), at, "another URL is the same order");
  const page = await get(at);
  t.match(page.text, "<h1>A webhook</h1>");
  t.match(page.text, receiver.url);
  t.match(page.text, /data-status="open" data-payment="none"/);
  t.match((await get(home)).text, "The fee of a webhook waits to be paid.");
  t.notMatch((await get("/merchant/keys")).text, "fee of a webhook", "it is no key's");
  const early = await post(`${at}/webhook`);
  t.equal(early.status, 402);
  t.equal((await post(`${at}/key`)).status, 404, "no key comes of it");

  await pay(who, at);
  t.match((await get(at)).text, "Save the URL and show the secret");
  t.match((await get("/merchant")).text, "You have paid the fee of a webhook, and not taken its secret yet.");
  t.match((await get(home)).text, "The fee is paid: saving the URL costs nothing more.");
  const taken = await post(`${at}/webhook`);
  t.equal(taken.headers.get("cache-control"), "no-store");
  const secret = secretIn(taken.text);
  t.match(secret, /^whsec_/);
  t.match(taken.text, `SVC_WEBHOOK_SECRET%3D${encodeURIComponent(secret)}`);
  t.match(await get(at), { text: /This order(?:'|&#39;)s webhook is there/ });
  for (const path of [home, at]) t.notMatch((await get(path)).text, secret, path);
  t.equal(secretIn((await post(`${at}/webhook`)).text), secret, "who lost the answer asks again");
  const moved = await fetch(`${api.url}${at}/webhook`, {
    headers: { Accept: "text/html", Authorization: bearer.Authorization },
    redirect: "manual",
  });
  t.match(moved.headers.get("location"), /\/orders\/ord_\w+$/);

  const saved = await get(leadsTo(t, await post(home, { url: `${receiver.url}/2` })));
  t.match(saved.text, "The URL is saved.");
  t.match(saved.text, `${receiver.url}/2`);
  const late = await post(`${at}/webhook`);
  t.equal(late.status, 409);
  t.match(late.text, "The secret was shown already");
  t.match((await get(home)).text, `${receiver.url}/2`, "taking it again changes no URL back");
});

t.test("with a paid order a URL is saved at once", async (t) => {
  const who = await somebody();
  const receiver = await startReceiver(t);
  const order = await orderWebhook(api, who.bearer, "https://typo.example/");
  await pay(who, `/merchant/orders/${order.id}`);
  const saved = await who.post(home, { url: receiver.url });
  t.equal(saved.status, 200);
  t.match(secretIn(saved.text), /^whsec_/);
  t.match((await who.get(home)).text, receiver.url);
});

t.test("an order of a fee that is paid by another one is not offered to be paid", async (t) => {
  const who = await somebody();
  const early = await orderWebhook(api, who.bearer);
  await db.query(
    "update svc.orders set valid_until = now() + interval '10 minutes' where kind = 'webhook_url'",
  );
  const order = await orderWebhook(api, who.bearer);
  t.not(order.id, early.id);
  await pay(who, `/merchant/orders/${order.id}`);
  const page = await who.get(`/merchant/orders/${early.id}`);
  t.equal(page.status, 409);
  t.match(page.text, "Do not pay this one.");
  t.notMatch(page.text, 'id="pay"');
});

t.test("what is no URL stays in its field, with what is wrong beside it", async (t) => {
  const { get, post } = await somebody();
  const wrong: [string, RegExp][] = [
    ["", /has to look like https:\/\/shop\.example\/hook/],
    ["hook", /has to look like/],
    ["ftp://shop.example/", /has to begin with https:\/\/ or http:\/\//],
    ["https://u:p@shop.example/", /no name and password/],
    ["https://shop.example/#a", /no # in it/],
    ["https://shop.example:22/", /80, 443, or from 1024/],
    [`https://shop.example/${"x".repeat(500)}`, /has at most 500 characters/],
    ['"><script>alert(1)</script>', /has to look like/],
  ];
  for (const [url, says] of wrong) {
    const page = await post(home, { url });
    t.equal(page.status, 400, url);
    t.match(page.text, says, url);
    t.match(page.text, 'aria-invalid="true"');
    t.notMatch(page.text, "<script>alert");
  }
  t.match((await post(home)).text, 'aria-invalid="true"', "a form without the field as well");
  t.equal(leadsTo(t, await post(`${home}/rotate`)), home, "without a webhook there is nothing to change");
  for (const path of ["/test", "/enable", "/finish"])
    t.equal(leadsTo(t, await post(home + path)), home, path);
  t.equal(leadsTo(t, await post(`${home}/replay`, { since: "2026-01-01T00:00" })), home);
  t.match((await get(`${home}/rotate`)).text, "Where shall we send to?");
});

t.test("a test shows what was sent and what was answered", async (t) => {
  const { get, post, receiver, secret } = await startMerchant(t);
  const good = leadsTo(t, await post(`${home}/test`));
  t.match(good, /^\/merchant\/webhooks\/events\/evt_\w+\?done=tested$/);
  const page = await get(good);
  t.match(page.text, "The test arrived.");
  const [got] = receiver.received;
  const escaped = (got?.body ?? "").replaceAll('"', "&quot;");
  t.match(page.text, escaped, "the very body");
  t.match(page.text, `POST ${receiver.url}`);
  for (const name of [
    "X-Svc-Event",
    "X-Svc-Signature",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
  ])
    t.match(page.text, `${name}: ${got?.headers[name.toLowerCase()]}`, `as it was sent: ${name}`);
  t.match(page.text, plainSignature(secret, got?.body ?? ""));
  t.match(page.text, "The answer was empty.");

  receiver.answers((response) => response.writeHead(302, { Location: "/" }).end());
  const redirected = await get(leadsTo(t, await post(`${home}/test`)));
  t.match(redirected.text, "The test did not arrive.");
  t.match(redirected.text, "A redirect is not followed");
  receiver.answers((response) => response.destroy());
  const lost = await get(leadsTo(t, await post(`${home}/test`)), { "Accept-Language": "id" });
  t.match(lost.text, "Sambungan berakhir sebelum jawabannya selesai.", "in the reader's language");
  for (let count = 3; count < 10; count += 1) await post(`${home}/test`);
  const limited = await post(`${home}/test`);
  t.equal(limited.status, 429);
  t.match(limited.text, "At most 10 tests in a minute.");
  t.equal(receiver.received.length, 10);
});

t.test("what a hostile receiver answers is text, and nothing else", async (t) => {
  const { get, post, receiver } = await startMerchant(t);
  const answers = [
    `<script>alert(1)</script><img src=x onerror=alert(1)></pre></section><form action="https://evil.example">`,
    "\u0000\u0007\u001b[2J\u009b\u202edlog\u2066\u200b\r\nSet-Cookie: a=b\ttab",
    "\ufffe\ud800x",
    `${"A".repeat(2_000_000)}<b>`,
  ];
  for (const hostile of answers) {
    receiver.answers((response) => response.writeHead(500, { "Content-Type": "text/html" }).end(hostile));
    const page = await get(leadsTo(t, await post(`${home}/test`)));
    t.equal(page.status, 200);
    t.notMatch(page.text, /<script>alert|<img src=x|action="https:|<b>/);
    // Line feeds and tabs are text.
    t.notMatch(page.text, /(?![\n\t])[\p{Cc}\p{Cf}]/u, "nothing that does not show");
    t.ok(page.text.length < 40_000, `${page.text.length} characters`);
    t.notMatch((await get(home)).text, /<script>alert/);
  }
  receiver.answers((response) => response.writeHead(500).end("\u202e\u0007a"));
  t.match((await get(leadsTo(t, await post(`${home}/test`)))).text, "\\u{202e}\\u{7}a", "it is written out");
});

t.test("a secret is changed with an overlap, which the page explains and ends", async (t) => {
  const { get, post, receiver, secret } = await startMerchant(t);
  t.match((await get(`${home}/rotate`)).text, "For 24 hours we sign with both");
  const next = secretIn((await post(`${home}/rotate`)).text);
  t.match(next, /^whsec_/);
  t.not(next, secret);
  const page = await get(home);
  t.match(page.text, "Both secrets are good until");
  t.notMatch(page.text, next);
  t.match((await get(`${home}/rotate`)).text, "A change is under way already.");
  const tested = await get(leadsTo(t, await post(`${home}/test`)));
  const body = receiver.received[0]?.body ?? "";
  t.match(tested.text, `X-Svc-Signature: ${plainSignature(secret, body)}`);
  t.match(tested.text, `X-Svc-Signature-Next: ${plainSignature(next, body)}`);
  const ended = await get(leadsTo(t, await post(`${home}/finish`)));
  t.match(ended.text, "The old secret signs no more.");
  t.notMatch(ended.text, "Both secrets are good until");
});

t.test("the log is paged and filtered; one event, and all since a time, are sent again", async (t) => {
  const { get, post, bearer, receiver } = await startMerchant(t);
  t.match((await get(home)).text, "Nothing was sent yet.");
  t.notMatch((await get(home)).text, 'name="state"');
  const order = await orderKey(api, bearer);
  await payOrder(anvil, order);
  await waitFor("it is told of", () => receiver.received.length === 1);
  const log = await waitFor("it is delivered", async () => {
    const { text } = await get(home);
    return text.includes("</span> Delivered</span>") && text;
  });
  t.match(log, "2 · A payment");
  const [, event = ""] = /(merchant\/webhooks\/events\/evt_\w+)"/.exec(log) ?? [];
  const again = await get(leadsTo(t, await post(`/${event}/replay`)));
  t.match(again.text, "It is sent again.");
  await waitFor("it has arrived again", () => receiver.received.length === 2);
  t.equal(receiver.received[1]?.body, receiver.received[0]?.body);
  await waitFor("both tries are shown", async () => (await get(`/${event}`)).text.includes("Try 2"));

  const since = leadsTo(t, await post(`${home}/replay`, { since: "2020-01-01T00:00" }));
  t.match((await get(since)).text, /[12] events? (?:is|are) sent again/);
  await waitFor("all have arrived", () => receiver.received.length >= 3);
  for (const wrong of ["", "yesterday", "2026-13-01T00:00", "2026-01-01", "2026-01-01T00:00Z"])
    t.match(await post(`${home}/replay`, { since: wrong }), { status: 400, text: /Choose a day and a time/ });
  const late = leadsTo(t, await post(`${home}/replay`, { since: "2090-01-01T00:00" }));
  t.match((await get(late)).text, "0 events are sent again.");

  await db.query(
    `with w as (select wallet from svc.webhook_events where id = (select event_id from svc.webhook_deliveries
        where endpoint_id = (select id from svc.webhook_endpoints where url = $1) limit 1)),
      e as (insert into svc.webhook_events (id, wallet, sequence, type, body)
        select gen_random_uuid(), wallet, n, 'webhook.test', '{}' from w, generate_series(100, 130) n returning id, sequence)
    insert into svc.webhook_deliveries (event_id, endpoint_id, sequence, state)
      select e.id, p.id, e.sequence, 'dead' from e, svc.webhook_endpoints p where p.url = $1`,
    [receiver.url],
  );
  const newest = (await get(home)).text;
  t.match(newest, "130 · A test");
  t.notMatch(newest, "110 · A test");
  const [, older = ""] = /href="\.\.\/(merchant\/webhooks\?before=\d+)#log"/.exec(newest) ?? [];
  const second = (await get(`/${older}`)).text;
  t.match(second, "110 · A test");
  t.match(second, "Newest</a>");
  const delivered = (await get(`${home}?state=delivered`)).text;
  t.notMatch(delivered, "130 · A test");
  t.match(delivered, '<option value="delivered" selected>');
  t.match((await get(`${home}?state=dropped`)).text, "There is nothing in this state.");
  for (const query of [
    "state=x",
    "before=-1",
    "before=1e9",
    "state=dead&state=dead",
    "done=replayed&count=<b>",
  ])
    t.equal((await get(`${home}?${query}`)).status, 200, query);
  t.notMatch((await get(`${home}?done=replayed&count=<b>`)).text, "<b>");
});

t.test("a webhook that fails or was disabled is explained, with what to do", async (t) => {
  const { get, post, bearer, receiver } = await startMerchant(t);
  receiver.answers((response) => response.writeHead(503).end());
  const order = await orderKey(api, bearer);
  await payOrder(anvil, order);
  await waitFor("it fails", async () =>
    (await get(home)).text.includes("Since the time below something was not delivered."),
  );
  receiver.answers((response) => response.writeHead(410).end());
  await payOrder(anvil, await orderKey(api, bearer));
  const page = await waitFor("it is disabled", async () => {
    const { text } = await get(home);
    return text.includes("Your program answered 410 Gone") && text;
  });
  t.match(page, "Disabled since");
  t.match(page, "The webhook is disabled: enable it first.");
  const [, event = ""] = /(merchant\/webhooks\/events\/evt_\w+)"/.exec(page) ?? [];
  t.notMatch((await get(`/${event}`)).text, "Send it again");
  for (const [path, form] of [
    [`/${event}/replay`, {}],
    [`${home}/replay`, { since: "2020-01-01T00:00" }],
  ] as const) {
    t.match(await post(path, form), { status: 400, text: /enable it first/ }, path);
  }
  receiver.answers((response) => response.writeHead(204).end());
  t.match((await get(leadsTo(t, await post(`${home}/enable`)))).text, "The webhook is enabled.");
  await db.query(
    `update svc.webhook_endpoints set disabled_at = now(), disabled_why = 'failing' where url = $1`,
    [receiver.url],
  );
  t.match((await get(home, { "Accept-Language": "id" })).text, "Selama lima hari tidak ada yang sampai");
  t.match(
    (await get(leadsTo(t, await post(`${home}/test`)))).text,
    "The test arrived.",
    "a test is sent also then",
  );
  const saved = await get(leadsTo(t, await post(home, { url: `${receiver.url}/2` })));
  t.match(saved.text, "Each event is sent here.", "a new URL enables it");
});

t.test("an invoice's history leads to what its webhook was sent and answered", async (t) => {
  const { get, bearer, receiver } = await startMerchant(t);
  const key = await buyKey(shop, bearer);
  const made = await send(api, "/api/v1/svc-dev/v1/invoices", {
    ...{ headers: { "X-Svc-Dev-Key": key.secret }, body: { amountIdr: 150_000 } },
  });
  const { id } = z.object({ invoice: z.object({ id: z.string() }) }).parse(made.json).invoice;
  await db.query(
    `with e as (
        insert into svc.webhook_events (id, wallet, sequence, type, body, order_id)
        select gen_random_uuid(), wallet, 50, 'invoice.paid', '{}', (select order_id from svc.invoices where id = $2)
        from svc.webhook_endpoints where url = $1 returning id, sequence)
      insert into svc.webhook_deliveries (event_id, endpoint_id, sequence, state, attempts, last_status)
      select e.id, p.id, e.sequence, 'dead', 3, 500 from e, svc.webhook_endpoints p where p.url = $1`,
    [receiver.url, idOf("inv").parse(id)],
  );
  const { text } = await get(`/merchant/invoices/${id}`);
  const [, event = ""] =
    /(merchant\/webhooks\/events\/evt_\w+)">given up<\/a>, 3 attempts: 500/.exec(text) ?? [];
  t.match((await get(`/${event}`)).text, "An invoice was paid");
});

t.test("another wallet's events are none that there are", async (t) => {
  const { post } = await startMerchant(t);
  const event = leadsTo(t, await post(`${home}/test`)).replace(/\?.*/, "");
  const { get: look, post: send } = await startMerchant(t);
  for (const path of [
    event,
    `${home}/events/evt_${"0".repeat(22)}`,
    `${home}/events/x`,
    `${home}/events/%00`,
  ]) {
    t.match(await look(path), { status: 404, text: /There is no such event/ }, path);
    t.equal((await send(`${path}/replay`)).status, 404, path);
  }
});

t.test("what the secret's page says of checking a signature runs", async (t) => {
  const { get, post, receiver, secret } = await startMerchant(t);
  const shown = (await post(`${home}/rotate`)).text;
  t.match(shown, "export function isOurs(body, signature)");
  t.ok((await get(home)).status);
  const folder = await mkdtemp(join(tmpdir(), "tollgate-webhook-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "check.mjs");
  await writeFile(file, exampleOfChecking);
  const { isOurs } = z.object({ isOurs: checking }).parse(await import(pathToFileURL(file).href));
  await post(`${home}/test`);
  const got = receiver.received[0];
  const before = process.env["SVC_WEBHOOK_SECRET"];
  t.teardown(() => {
    if (before === undefined) delete process.env["SVC_WEBHOOK_SECRET"];
    else process.env["SVC_WEBHOOK_SECRET"] = before;
  });
  process.env["SVC_WEBHOOK_SECRET"] = secret;
  t.equal(isOurs(got?.body, got?.headers["x-svc-signature"]), true);
  t.equal(isOurs(`${got?.body} `, got?.headers["x-svc-signature"]), false);
  for (const wrong of [undefined, "", "sha256=", "sha256=00", "x"]) t.equal(isOurs(got?.body, wrong), false);
});
