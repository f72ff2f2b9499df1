import { Wallet } from "ethers";
import t, { type Test } from "tap";
import { idOf } from "../../../api/merchant/public-id.ts";
import { operations } from "../../../api/rest/operations.ts";
import { keyScopes } from "../../../api/rest/security.ts";
import { problem, wordsOfLibraries } from "../support/problem.ts";
import type { Answer } from "../support/start-api.ts";
import { aliceWallet, bobWallet, send, sessionPath, sessionsPath, signIn } from "./support/sign-in.ts";
import { buyKey, dashboardPath, keysPath, orderKey, orderWebhook, startShop } from "./support/start-shop.ts";

/*
 * Every operation of the table, by everybody who may not carry it out: without anything, with a key in place of a session and the other
 * way round, as another wallet, as a page of others.
 */

const shop = await startShop(t);
const { api, db } = shop;
const alice = await signIn(api, aliceWallet);
const bob = await signIn(api, bobWallet);
const key = await buyKey(shop, alice.bearer);
const paid = await orderKey(api, alice.bearer);
const other = await signIn(api, aliceWallet);
const fee = await orderWebhook(api, alice.bearer);

const invoices = "/api/v1/svc-dev/v1/invoices";
const nobodys = `inv_${"0".repeat(22)}`;

type Attempt = { path?: string; body?: unknown };

/** What is asked of each operation; `ofAlice` where it names what is hers. */
const attempts: Record<string, Attempt & { ofAlice: boolean }> = {
  createSessionNonce: { body: {}, ofAlice: false },
  signIn: { body: { message: "x", signature: "0x00" }, ofAlice: false },
  getSession: { ofAlice: false },
  endSession: { ofAlice: false },
  listSessions: { ofAlice: false },
  endOtherSessions: { ofAlice: false },
  endSessionById: { path: `${sessionsPath}/${other.id}`, ofAlice: true },
  listPackages: { ofAlice: false },
  getOrder: { path: `/api/v1/svc-dev/orders/${paid.id}`, ofAlice: true },
  createKey: { body: { orderId: paid.id }, ofAlice: true },
  revokeKey: { body: { keyId: key.id }, ofAlice: true },
  getSummary: { path: `/api/v1/svc-dev/summary/${aliceWallet.address}`, ofAlice: true },
  getDashboard: { ofAlice: false },
  createInvoice: { body: { amountIdr: 150_000 }, ofAlice: false },
  listInvoices: { ofAlice: false },
  listInvoicesCsv: { ofAlice: false },
  getInvoice: { path: `${invoices}/${nobodys}`, ofAlice: false },
  cancelInvoice: { path: `${invoices}/${nobodys}/cancel`, ofAlice: false },
  collectInvoice: { path: `${invoices}/${nobodys}/collect`, ofAlice: false },
  listEvents: { ofAlice: false },
  saveWebhook: { body: { url: "https://shop.example/", orderId: fee.id }, ofAlice: true },
  testWebhook: { body: {}, ofAlice: false },
  rotateWebhookSecret: { body: {}, ofAlice: false },
  finishWebhookRotation: { body: {}, ofAlice: false },
  enableWebhook: { body: {}, ofAlice: false },
  replayWebhooks: { body: { since: 0 }, ofAlice: false },
  listWebhookDeliveries: { ofAlice: false },
  getSettings: { ofAlice: false },
  saveSettings: { body: { displayName: "", contact: "", language: null }, ofAlice: false },
  getWebhookDelivery: { path: `/api/v1/svc-dev/webhooks/deliveries/evt_${"0".repeat(22)}`, ofAlice: false },
};
const rows = operations.map((row) => {
  const attempt = attempts[row.operationId];
  if (attempt === undefined) throw new Error(`say here what is asked of ${row.operationId}`);
  return { ...row, ...attempt, path: attempt.path ?? row.path };
});
const ask = ({ method, path, body }: (typeof rows)[number], headers: Record<string, string>, at = path) =>
  send(api, at, { method, headers, body });

const ofSession = rows.filter(({ security }) => security.schemes.includes("sessionToken"));
const ofKey = rows.filter(({ security }) => security.schemes.includes("svcDevKey"));
const unsafe = ofSession.filter(({ method }) => method !== "GET");

function isRefused(t: Test, answer: Answer, expected: { status: number; code: string }, what: string) {
  t.match(problem.passthrough().parse(answer.json), expected, what);
  t.equal(answer.headers.get("cache-control"), "no-store", what);
  t.notOk(answer.headers.has("access-control-allow-credentials"), what);
  t.notOk(answer.headers.has("set-cookie"), what);
  t.notMatch(answer.text, wordsOfLibraries, what);
  t.notMatch(answer.text, /svc_(?:dev|live)_[0-9A-Za-z]{10}|wst_/, what);
  if (expected.status === 401) t.match(answer.headers.get("www-authenticate"), /^Bearer realm=/, what);
}
const required = { status: 401, code: "session_required" };

t.test("each operation is for a session, for a key or for anybody, and says so", async (t) => {
  const anybody = rows.filter(({ security }) => security.schemes.length === 0);
  t.same(
    anybody.map(({ operationId }) => operationId),
    ["createSessionNonce", "signIn", "listPackages"],
  );
  t.equal(ofSession.length + ofKey.length + anybody.length, rows.length);
});

t.test("nobody gets into an operation of a session without one", async (t) => {
  const ended = await signIn(api, bobWallet);
  await send(api, sessionPath, { method: "DELETE", headers: ended.bearer });
  const strangers: Record<string, Record<string, string>> = {
    "with nothing": {},
    "with a key as Bearer": { Authorization: `Bearer ${key.secret}` },
    "with a key": { "X-Svc-Dev-Key": key.secret },
    "with a key in the other header": { "X-Api-Key": key.secret },
    "with a key in the cookie": { Cookie: `svc_session=${key.secret}` },
    "with an address": { Authorization: `Bearer ${aliceWallet.address}` },
    "with a session's id": { Authorization: `Bearer ${alice.id}` },
    "with a session that has ended": ended.bearer,
    "with a token of nobody": { Authorization: `Bearer wst_${"A".repeat(43)}` },
    "with the token in the wrong place": { "X-Api-Key": alice.token },
    "with the production cookie's name": { Cookie: `__Host-${alice.cookie}` },
  };
  for (const row of ofSession)
    for (const [what, headers] of Object.entries(strangers))
      isRefused(t, await ask(row, headers), required, `${row.operationId} ${what}`);
});

t.test("another spelling of a path is no way around", async (t) => {
  const spellings = (path: string) => [
    `${path}/`,
    `${path}?token=${alice.token}`,
    path.replace("/svc-dev/", "//svc-dev/"),
    path.replace("svc-dev", "SVC-DEV"),
    path.replace("svc-dev", "svc%2Ddev"),
    path.replace("/svc-dev/", "/%73vc-dev/"),
    path.replace("/svc-dev/", "/x/../svc-dev/"),
    path.replace("/svc-dev/", "/./svc-dev/"),
    `${path};a=b`,
    `${path}%00`,
    `${path}%2f`,
    path.replaceAll("/", "\\"),
  ];
  for (const row of [...ofSession, ...ofKey]) {
    for (const path of spellings(row.path)) {
      const answer = await ask(row, {}, path);
      t.ok(answer.status >= 400 && answer.status < 500, `${row.method} ${path}: ${answer.status}`);
    }
    const head = await fetch(`${api.url}${row.path}`, { method: "HEAD" });
    t.ok(head.status >= 400 && head.status < 500, `HEAD ${row.path}: ${head.status}`);
  }
});

t.test("another wallet's data is 403 on every path that names it", async (t) => {
  const named = ofSession.filter(({ ofAlice }) => ofAlice);
  t.equal(named.length, 6);
  for (const row of named) {
    for (const headers of [bob.bearer, { Cookie: bob.cookie, Origin: "http://127.0.0.1:4000" }]) {
      const answer = await ask(row, headers);
      isRefused(t, answer, { status: 403, code: "forbidden" }, row.operationId);
      for (const hers of [paid.idOnChain, key.hint, paid.transaction?.data ?? "-", other.token])
        t.notOk(answer.text.includes(hers), `${row.operationId} tells nothing of it`);
    }
  }
  for (const address of [
    aliceWallet.address.toLowerCase(),
    aliceWallet.address.toUpperCase().replace("X", "x"),
  ]) {
    const path = `/api/v1/svc-dev/summary/${address}`;
    t.equal((await api.get(path, bob.bearer)).status, 403, address);
    t.match(await api.get(path, alice.bearer), { status: 200, json: { wallet: aliceWallet.address } });
  }
  t.same(Object((await api.get(`/api/v1/svc-dev/summary/${bobWallet.address}`, bob.bearer)).json).keys, []);
});

t.test("with a cookie no page of others changes anything, by whatever type it sends", async (t) => {
  const pages: Record<string, string>[] = [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    {},
  ];
  const types = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/plain"];
  for (const row of unsafe) {
    for (const from of pages) {
      const headers = { Cookie: alice.cookie, ...from };
      isRefused(
        t,
        await ask(row, headers),
        { status: 403, code: "forbidden" },
        `${row.operationId} ${JSON.stringify(from)}`,
      );
    }
    for (const type of types) {
      const headers = { Cookie: alice.cookie, Origin: "http://127.0.0.1:4000", "Content-Type": type };
      const answer = await send(api, row.path, {
        method: row.method,
        headers,
        body: JSON.stringify(row.body ?? {}),
      });
      isRefused(t, answer, { status: 415, code: "unsupported_media_type" }, `${row.operationId} ${type}`);
    }
  }
});

t.test(
  "a session opens nothing that wants a key, nor does a key without the scope or one that has ended",
  async (t) => {
    const scoped = await buyKey(shop, alice.bearer, { package: "monthly", scopes: ["invoices:read"] });
    const looking = await buyKey(shop, alice.bearer, { package: "monthly", scopes: ["dashboard:read"] });
    const revoked = await buyKey(shop, bob.bearer);
    await send(api, `${keysPath}/revoke`, { headers: bob.bearer, body: { keyId: revoked.id } });
    const expired = await buyKey(shop, bob.bearer);
    await db.query(
      "update svc.api_keys set created_at = now() - interval '31 days', expires_at = now() - interval '1 s' where id = $1",
      [idOf("key").parse(expired.id)],
    );
    const strangers: [Record<string, string>, number, string, RegExp?][] = [
      [{}, 401, "api_key_missing"],
      [{ Cookie: alice.cookie, Origin: "http://127.0.0.1:4000" }, 401, "api_key_missing"],
      [alice.bearer, 401, "api_key_invalid", /wallet session/],
      [{ "X-Svc-Dev-Key": alice.token }, 401, "api_key_invalid", /wallet session/],
      [{ "X-Svc-Dev-Key": key.id }, 401, "api_key_invalid"],
      [{ "X-Svc-Dev-Key": key.hint.normalize("NFD").replace("…", "...") }, 401, "api_key_invalid"],
      [{ "X-Svc-Dev-Key": `${key.secret.slice(0, -1)}` }, 401, "api_key_invalid"],
      [{ "X-Svc-Dev-Key": key.secret, "X-Api-Key": scoped.secret }, 400, "invalid_request"],
      [{ ...alice.bearer, "X-Api-Key": key.secret }, 400, "invalid_request"],
      [{ "X-Svc-Dev-Key": revoked.secret }, 401, "api_key_revoked"],
      [{ "X-Svc-Dev-Key": expired.secret }, 401, "api_key_expired"],
    ];
    t.equal(ofKey.length, 8, "and the scope of each is tried");
    t.ok(ofKey.every(({ security }) => security.scope !== undefined && keyScopes.includes(security.scope)));
    for (const row of ofKey) {
      for (const [headers, status, code, words = /./] of strangers) {
        const answer = await ask(row, headers);
        isRefused(t, answer, { status, code }, `${row.operationId} ${Object.keys(headers)} ${code}`);
        t.match(Object(answer.json).detail, words);
      }
      const without = row.security.scope === "dashboard:read" ? scoped : looking;
      const refused = { status: 403, code: "insufficient_scope" };
      isRefused(t, await ask(row, { "X-Svc-Dev-Key": without.secret }), refused, row.operationId);
    }
    t.equal((await api.get(dashboardPath, { "X-Svc-Dev-Key": key.secret })).status, 200);
  },
);

t.test("hostile bodies are refused before anything is done", async (t) => {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  const bodies: Record<string, string> = {
    "a prototype": '{"package":"monthly","__proto__":{"orderId":"x"}}',
    "a constructor": '{"package":"monthly","constructor":{}}',
    "a deep body": deep,
    "a deep field": `{"package":${deep.slice(1000, -1000)}}`,
    "another type": '{"package":["monthly"]}',
    "a label of control characters": '{"package":"monthly","label":"a\\u0000b"}',
    "half a character": '{"package":"monthly","label":"\\ud800"}',
    "a label too long": JSON.stringify({ package: "monthly", label: "x".repeat(61) }),
    "a scope of no key": '{"package":"monthly","scopes":["admin"]}',
    "a scope twice": '{"package":"monthly","scopes":["invoices:read","invoices:read"]}',
    "a price": '{"package":"monthly","amount":"1"}',
    "another wallet": JSON.stringify({ package: "monthly", wallet: bobWallet.address }),
    "an order id beyond all": `{"orderId":"ord_${"z".repeat(22)}"}`,
    SQL: `{"orderId":"ord_' or 1=1 --"}`,
    nothing: "",
    "two values": '{"package":"monthly"} {"package":"yearly"}',
    "a mark of byte order and text": "\ufeff{",
    NaN: '{"package":NaN}',
  };
  const wallet = new Wallet(`0x${"7".repeat(64)}`);
  const { bearer } = await signIn(api, wallet);
  for (const [what, body] of Object.entries(bodies)) {
    const answer = await send(api, keysPath, {
      headers: { ...bearer, "Content-Type": "application/json" },
      body,
    });
    isRefused(t, answer, { status: 400, code: "invalid_request" }, what);
  }
  const summary = await api.get(`/api/v1/svc-dev/summary/${wallet.address}`, bearer);
  t.match(summary.json, { orders: [], keys: [] });
});

t.test("after all of it alice has what she had, and no line of the log tells a secret", async (t) => {
  for (const { bearer } of [alice, other]) t.equal((await api.get(sessionPath, bearer)).status, 200);
  const summary = await api.get(`/api/v1/svc-dev/summary/${aliceWallet.address}`, alice.bearer);
  const mine = Object(summary.json);
  t.match(
    mine.keys.find(({ id }: { id: string }) => id === key.id),
    { state: "active" },
  );
  t.match(
    mine.orders.find(({ id }: { id: string }) => id === paid.id),
    { status: "open" },
  );
  t.notOk(summary.text.includes(key.secret));
  const log = api.logLines.join("");
  for (const secret of [key.secret, alice.token, bob.token, other.token])
    t.notOk(log.includes(secret.slice(9)));
});
