import t, { type Test } from "tap";
import { z } from "zod";
import { merchantRoutes } from "../../../../api/merchant/pages/create-merchant-pages.ts";
import { aliceWallet, bobWallet, send, sessionPath, signIn } from "../support/sign-in.ts";
import { buyKey, markPaid, orderKey, orderWebhook, startShop } from "../support/start-shop.ts";
import { startReceiver } from "../webhooks/support/start-receiver.ts";

/* Each page of merchants by everybody whose it is not, and what alice wrote where others' browsers would run it. */

const shop = await startShop(t);
const { api, db } = shop;
const ours = "http://127.0.0.1:4000";
const script = `"><script>alert(1)</script><img src=x onerror='a'>`;
const answered = "what-her-program-answered";
const alice = await signIn(api, aliceWallet, { "User-Agent": `${script} Firefox/1` });
const other = await signIn(api, aliceWallet);
const bob = await signIn(api, bobWallet);
const key = await buyKey(shop, alice.bearer, { package: "monthly", label: script });
const open = await orderKey(api, alice.bearer, { package: "yearly", label: script });
const paid = await orderKey(api, alice.bearer, { package: "quarterly" });
await markPaid(db, paid.id);
const fee = await orderWebhook(api, alice.bearer);
await markPaid(db, fee.id);
/** What her program answers is hers alone as well. */
const receiver = await startReceiver(t);
receiver.answers((response) => response.writeHead(500).end(`${script} ${answered}`));
const hooks = "/api/v1/svc-dev/webhooks";
const { text: saved } = await send(api, hooks, { headers: alice.bearer, body: { url: receiver.url } });
const [secret = ""] = /whsec_[^"]+/.exec(saved) ?? [];
const { text: sentTest } = await send(api, `${hooks}/test`, { headers: alice.bearer, body: {} });
const [event = ""] = /evt_\w+/.exec(sentTest) ?? [];

const invoiceAnswer = z.object({ invoice: z.object({ id: z.string(), depositAddress: z.string() }) });
async function makeInvoice(reference: string) {
  const body = { amountIdr: 150_000, customerLabel: script, note: script, reference };
  const headers = { "X-Svc-Dev-Key": key.secret };
  return invoiceAnswer.parse((await send(api, "/api/v1/svc-dev/v1/invoices", { headers, body })).json)
    .invoice;
}
const waiting = await makeInvoice("waiting");
const partly = await makeInvoice("partly");
await db.query("update svc.invoices set state = 'underpaid', received = 1 where reference = 'partly'");

function idOf(path: string): string {
  if (path.includes("/keys/")) return key.id;
  if (path.includes("/events/")) return event;
  if (path.includes("/sessions/")) return other.id;
  if (path.includes("/invoices/")) return path.endsWith("/refund") ? partly.id : waiting.id;
  return open.id;
}
const rows = merchantRoutes.map((row) => ({ ...row, path: row.path.replace(":id", idOf(row.path)) }));
const posts = rows.filter(({ method }) => method === "POST");
const good = "package=monthly&label=of+a+stranger&scope=invoices%3Aread";

async function ask(method: string, path: string, headers: Record<string, string>, body?: string) {
  const form = body === undefined ? {} : { "Content-Type": "application/x-www-form-urlencoded" };
  const response = await fetch(`${api.url}${path}`, {
    ...{ method, redirect: "manual", headers: { ...form, ...headers } },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
type Page = Awaited<ReturnType<typeof ask>>;

/** Beside what the path that was asked has. */
function tellsNothing(t: Test, page: Page, what: string) {
  for (const hers of [
    aliceWallet.address,
    key.hint,
    "alert(1)",
    open.idOnChain,
    other.id,
    waiting.depositAddress,
    partly.depositAddress,
    key.secret,
    alice.token,
    receiver.url,
    answered,
    secret,
  ])
    t.notOk(!what.includes(hers) && page.text.includes(hers), `${what}: ${hers}`);
}

t.test("nobody sees or does anything without a session", async (t) => {
  const strangers: Record<string, string>[] = [
    {},
    { "X-Svc-Dev-Key": key.secret, "X-Api-Key": key.secret },
    { Authorization: `Bearer ${key.secret}` },
    { Cookie: `svc_session=${key.secret}` },
    { Cookie: `svc_session=wst_${"A".repeat(43)}` },
  ];
  for (const { method, path } of rows) {
    for (const headers of strangers) {
      const page = await ask(
        method,
        path,
        { Origin: ours, ...headers },
        method === "POST" ? good : undefined,
      );
      const what = `${method} ${path} ${JSON.stringify(headers).slice(0, 60)}`;
      t.equal(page.status, method === "GET" && path === "/merchant" ? 200 : 401, what);
      t.match(page.text, /id="sign-in"/, what);
      tellsNothing(t, page, what);
    }
  }
});

t.test(
  "every page is its wallet's alone: kept by nobody, framed by nobody, and nothing inline runs",
  async (t) => {
    for (const { method, path } of rows.filter((row) => row.method === "GET")) {
      const page = await ask(method, path, { Cookie: alice.cookie });
      t.equal(page.headers.get("cache-control"), "no-store", path);
      if (page.status === 303) continue;
      if (path.endsWith(".csv")) {
        t.match(page.headers.get("content-disposition"), /^attachment;/, "a file is shown by no browser");
        t.equal(page.headers.get("x-content-type-options"), "nosniff");
        continue;
      }
      t.equal(page.status, 200, path);
      const policy = page.headers.get("content-security-policy") ?? "";
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ])
        t.ok(policy.includes(rule), `${path}: ${rule}`);
      t.notOk(page.headers.has("access-control-allow-credentials"));
      t.notMatch(page.text, /<script>alert|<img src=x/, `${path}: what was typed stays text`);
      for (const told of [key.secret, alice.token, secret])
        t.notOk(page.text.includes(told), `${path} has no secret`);
    }
  },
);

t.test("a form of another page does nothing", async (t) => {
  const pages: Record<string, string>[] = [
    {},
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "null", "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Referer: `${ours}/merchant` },
  ];
  for (const { path } of posts) {
    for (const from of pages) {
      const page = await ask("POST", path, { Cookie: alice.cookie, ...from }, good);
      t.equal(page.status, 403, `${path} ${JSON.stringify(from)}`);
      t.notOk(page.headers.has("set-cookie"));
      tellsNothing(t, page, path);
    }
  }
});

t.test("another wallet's keys, orders and sessions are none that there are", async (t) => {
  for (const { method, path } of rows.filter(
    (row) => row.path.includes("_") || row.path.includes(other.id),
  )) {
    const headers = { Cookie: bob.cookie, Origin: ours };
    const page = await ask(method, path, headers, method === "POST" ? "" : undefined);
    t.ok([303, 403, 404].includes(page.status), `${method} ${path}: ${page.status}`);
    tellsNothing(t, page, `${method} ${path}`);
  }
});

t.test("ids and forms that are none are pages in words", async (t) => {
  const headers = { Cookie: bob.cookie, Origin: ours };
  const ids = [
    "x",
    "%00",
    "ord_",
    `ord_${"z".repeat(22)}`,
    "..%2f..%2fmerchant",
    "%27%20or%201%3D1",
    "a".repeat(3000),
    "%E0%A4%A",
  ];
  for (const { method, path } of merchantRoutes.filter((row) => row.path.includes(":id"))) {
    for (const id of ids) {
      const page = await ask(method, path.replace(":id", id), headers, method === "POST" ? "" : undefined);
      t.ok(page.status < 500 && page.status !== 200, `${method} ${path} ${id}: ${page.status}`);
    }
  }
  const bodies = [
    "",
    "package=none",
    "package=monthly&scope=admin",
    `package=monthly&scope=invoices%3Aread&label=${"x".repeat(61)}`,
    "package=monthly&scope=invoices%3Aread&label=%00",
    "package=monthly&package=yearly&scope=invoices%3Aread",
    "__proto__=1&constructor=2",
    "a".repeat(60_000),
  ];
  for (const body of bodies)
    t.equal((await ask("POST", "/merchant/orders", headers, body)).status, 400, body.slice(0, 60));
  for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=a"]) {
    const page = await ask("POST", "/merchant/orders", { ...headers, "Content-Type": type }, "{}");
    t.ok([400, 415].includes(page.status), `${type}: ${page.status}`);
  }
  const links = ["//evil.example", "https://evil.example", "javascript:alert(1)", `"onload="a`];
  for (const link of links) {
    for (const path of [
      `/merchant?address=${encodeURIComponent(link)}`,
      `/merchant/orders/${encodeURIComponent(link)}?next=${link}`,
    ]) {
      const { text } = await ask("GET", path, {});
      const [, next = ""] = /data-next="([^"]*)"/.exec(text) ?? [];
      t.notMatch(next, /^(?:[a-z]+:|\/\/)|"/i, `${path} leads to ${next}`);
    }
  }
});

t.test("after all of it alice has what she had", async (t) => {
  for (const { bearer } of [alice, other]) t.equal((await api.get(sessionPath, bearer)).status, 200);
  const summary = Object(
    (await api.get(`/api/v1/svc-dev/summary/${aliceWallet.address}`, alice.bearer)).json,
  );
  t.same(
    summary.keys.map(({ id, state }: { id: string; state: string }) => ({ id, state })),
    [{ id: key.id, state: "active" }],
  );
  t.same(summary.orders.map(({ status }: { status: string }) => status).sort(), [
    "open",
    "paid",
    "used",
    "used",
  ]);
  t.notOk(api.logLines.join("").includes(key.secret.slice(9)));
});
