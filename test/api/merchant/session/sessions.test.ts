import { pino } from "pino";
import t from "tap";
import { z } from "zod";
import { createSessionStore } from "../../../../api/merchant/session/session-store.ts";
import { createSweep } from "../../../../api/merchant/sweep.ts";
import { createApiKey } from "../../../../lib/keys/api-key.ts";
import { connectPostgres } from "../../../../lib/postgres/postgres-connection.ts";
import { createPostgresPool } from "../../../../lib/postgres/postgres-pool.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import { startServices } from "../../support/start-world.ts";
import {
  aliceWallet,
  askNonce,
  bobWallet,
  messageOf,
  send,
  sessionPath,
  sessionsPath,
  signIn,
} from "../support/sign-in.ts";

const { anvil: _anvil, ...services } = await startServices(t);
const clock = { ms: Date.now() };
const now = () => clock.ms;
const [api, other] = await Promise.all([
  startApi(t, { ...services, now }),
  startApi(t, { ...services, now }),
]);
const db = await connectPostgres({
  url: services.postgresUrl,
  name: "test",
  logger: { info() {}, warn() {} },
});
t.teardown(() => db.end());

const pool = createPostgresPool({
  url: services.postgresUrl,
  name: "test",
  logger: pino({ level: "silent" }),
});
t.teardown(() => pool.end());

const hoursMs = 3_600_000;
const list = z.object({
  data: z.array(
    z.object({ id: z.string(), userAgent: z.string(), current: z.boolean(), createdAt: z.string() }),
  ),
});
const sessionsOf = async (headers: Record<string, string>) =>
  list.parse((await api.get(sessionsPath, headers)).json).data;

t.test("a wallet signs in, and is known by cookie and by bearer token until it signs out", async (t) => {
  const nonce = await askNonce(api);
  t.match(nonce, { domain: "127.0.0.1:4000", uri: "http://127.0.0.1:4000", chainId: 8845 });
  t.match(nonce.nonce, /^[0-9A-Za-z]{24}$/);
  t.equal(Date.parse(nonce.expirationTime) - Date.parse(nonce.issuedAt), 300_000);
  const message = messageOf(nonce, { address: aliceWallet.address });
  const signature = await aliceWallet.signMessage(message);
  const answer = await send(api, sessionPath, { body: { message, signature } });
  t.equal(answer.status, 201, answer.text);
  t.match(answer.json, {
    session: {
      address: aliceWallet.address,
      expiresAt: new Date(clock.ms + 12 * hoursMs).toISOString(),
      expiresAtUnix: Math.floor((clock.ms + 12 * hoursMs) / 1000),
    },
    token: /^wst_[\w-]{43}$/,
  });
  t.equal(answer.headers.get("cache-control"), "no-store");
  const { token } = z.object({ token: z.string() }).parse(answer.json);
  t.equal(
    answer.headers.get("set-cookie"),
    `svc_session=${token}; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax`,
  );

  const { rows } = await db.query("select * from svc.sessions");
  t.notMatch(JSON.stringify(rows), token.slice(4), "the token itself is stored nowhere");
  for (const headers of [{ Authorization: `Bearer ${token}` }, { Cookie: `a=b; svc_session=${token}` }]) {
    const mine = await api.get(sessionPath, headers);
    t.match(mine, { status: 200, json: { session: { address: aliceWallet.address } } });
    t.notMatch(mine.text, token);
    t.notOk(mine.headers.has("set-cookie"));
  }
  const bearer = { Authorization: `Bearer ${token}` };
  const ended = await send(api, sessionPath, { method: "DELETE", headers: bearer });
  t.equal(ended.status, 204);
  t.match(ended.headers.get("set-cookie"), /^svc_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
  t.match(problem.parse((await api.get(sessionPath, bearer)).json), {
    status: 401,
    code: "session_required",
  });
});

t.test("behind https the cookie is one that no other host can set", async (t) => {
  const change = (config: Parameters<NonNullable<Parameters<typeof startApi>[1]["change"]>>[0]) => ({
    ...config,
    publicUrl: "https://merchants.example/explorer",
  });
  const secure = await startApi(t, { ...services, change });
  const nonce = await askNonce(secure);
  t.match(nonce, { domain: "merchants.example", uri: "https://merchants.example" });
  const { cookie, setCookie } = await signIn(secure);
  t.match(
    setCookie,
    /^__Host-svc_session=wst_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  t.equal((await secure.get(sessionPath, { Cookie: cookie })).status, 200);
  t.equal((await secure.get(sessionPath, { Cookie: cookie.replace("__Host-", "") })).status, 401);
});

t.test("a session that was ended has ended for another process at once", async (t) => {
  const { bearer, id } = await signIn(api, bobWallet);
  clock.ms += 1;
  const second = await signIn(other, bobWallet, { "User-Agent": "second" });
  t.equal((await other.get(sessionPath, bearer)).status, 200);
  t.same(
    (await sessionsOf(second.bearer)).map(({ current }) => current),
    [true, false],
  );
  t.equal(
    (await send(api, `${sessionsPath}/${id}`, { method: "DELETE", headers: second.bearer })).status,
    204,
  );
  t.equal((await other.get(sessionPath, bearer)).status, 401);
  t.equal(
    (await send(api, `${sessionsPath}/${id}`, { method: "DELETE", headers: second.bearer })).status,
    404,
  );

  const third = await signIn(api, bobWallet);
  const ended = await send(other, sessionsPath, { method: "DELETE", headers: third.bearer });
  t.match(ended, { status: 200, json: { ended: 1 } });
  t.equal((await api.get(sessionPath, second.bearer)).status, 401);
  t.equal((await api.get(sessionPath, third.bearer)).status, 200);
  const last = await send(api, `${sessionsPath}/${third.id}`, { method: "DELETE", headers: third.bearer });
  t.equal(last.status, 204);
  t.match(last.headers.get("set-cookie"), /Max-Age=0/, "who ends its own is told to forget it");
});

t.test("a wallet neither sees nor ends another's sessions", async (t) => {
  const alice = await signIn(api);
  const bob = await signIn(api, bobWallet);
  t.notOk((await sessionsOf(bob.bearer)).some(({ id }) => id === alice.id));
  const ended = await send(api, `${sessionsPath}/${alice.id}`, { method: "DELETE", headers: bob.bearer });
  t.match(problem.parse(ended.json), { status: 403, code: "forbidden" });
  await send(api, sessionsPath, { method: "DELETE", headers: bob.bearer });
  t.equal((await api.get(sessionPath, alice.bearer)).status, 200);
  for (const id of ["1", "%00", alice.id.slice(1), `${alice.id}'`]) {
    const answer = await send(api, `${sessionsPath}/${id}`, { method: "DELETE", headers: bob.bearer });
    t.match(problem.parse(answer.json), { status: 400, errors: [{ pointer: "#/path/id" }] }, id);
    t.notMatch(answer.text, wordsOfLibraries);
  }
});

t.test("the twenty-first session ends the oldest, also where many sign in at once", async (t) => {
  const first = await signIn(api);
  await send(api, sessionsPath, { method: "DELETE", headers: first.bearer });
  clock.ms += 1000;
  const rest = await Promise.all(Array.from({ length: 19 }, (_, at) => signIn(at % 2 === 0 ? api : other)));
  t.equal((await api.get(sessionPath, first.bearer)).status, 200);
  clock.ms += 1000;
  const latest = await signIn(api);
  t.equal((await sessionsOf(latest.bearer)).length, 20);
  t.equal((await api.get(sessionPath, first.bearer)).status, 401);
  for (const { bearer } of rest) t.equal((await api.get(sessionPath, bearer)).status, 200);
  // Past the HTTP server, where nothing else makes one wait for the other.
  const store = createSessionStore({ db: pool, settings: { lifetimeSeconds: 60, perWalletMax: 20 }, now });
  const wallet = bobWallet.address;
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 60 }, () => store.open({ wallet, userAgent: "" })));
    const { rows } = await db.query("select from svc.sessions where wallet = $1", [
      Buffer.from(wallet.slice(2), "hex"),
    ]);
    t.equal(rows.length, 20);
  }
});

t.test("a session ends after 12 hours, and its row is removed", async (t) => {
  const { bearer, cookie } = await signIn(api);
  clock.ms += 12 * hoursMs - 1;
  t.equal((await api.get(sessionPath, bearer)).status, 200);
  clock.ms += 1;
  for (const headers of [bearer, { Cookie: cookie }])
    t.match(problem.parse((await api.get(sessionPath, headers)).json), { status: 401, detail: /has ended/ });
  await signIn(api);
  const { rows } = await db.query("select from svc.sessions where wallet = $1", [
    Buffer.from(aliceWallet.address.slice(2), "hex"),
  ]);
  t.equal(rows.length, 1, "signing in removes the wallet's that have run out");
});

t.test("rows of sessions that have run out are removed in parts, others are not", async (t) => {
  const store = createSessionStore({ db: pool, settings: { lifetimeSeconds: 60, perWalletMax: 20 }, now });
  await signIn(api, bobWallet);
  await db.query(
    `insert into svc.sessions (token_hash, id, wallet, created_at, expires_at)
    select sha256(n::text::bytea), gen_random_uuid(), $1, $2::timestamptz - interval '1 day', $2
    from generate_series(1, 1500) n`,
    [Buffer.from(bobWallet.address.slice(2), "hex"), new Date(clock.ms)],
  );
  const rows = async () => (await db.query("select from svc.sessions")).rows.length;
  const before = await rows();
  t.same(await store.removeExpired(), { hasMore: true });
  t.equal(await rows(), before - 1000);
  const sweep = createSweep({ tasks: [store.removeExpired], logger: pino({ level: "silent" }), everyMs: 1 });
  sweep.start();
  await waitFor("the rest is removed", async () => (await rows()) <= before - 1500);
  await sweep.stop();
  t.equal(await rows(), before - 1500);
});

t.test("a list of sessions shows what a browser calls itself, cleaned and cut", async (t) => {
  clock.ms += 1;
  const userAgent = `Mozilla/5.0 <script>\u00ff\u0085 ${"x".repeat(300)}`;
  const { bearer } = await signIn(api, bobWallet, { "User-Agent": userAgent });
  const [mine] = await sessionsOf(bearer);
  t.match(mine?.userAgent, /^Mozilla\/5\.0 <script> x+$/);
  t.equal(mine?.userAgent.length, 200);
  t.notMatch((await api.get(sessionsPath, bearer)).text, "wst_");
});

t.test("what is no session's token is 401 in words that say what it is", async (t) => {
  const key = createApiKey({ profile: "development", prefix: "svc" });
  const { token } = await signIn(api);
  const cases: [Record<string, string>, RegExp][] = [
    [{}, /No wallet session was sent: sign in/],
    [{ Authorization: `Bearer ${key}` }, /An API key does not open this/],
    [{ Authorization: `Bearer ${key.slice(0, -1)}` }, /An API key does not open this/],
    [{ "X-Svc-Dev-Key": key }, /An API key does not open this/],
    [{ "X-Api-Key": key }, /An API key does not open this/],
    [{ Cookie: `svc_session=${key}` }, /No wallet session/],
    [{ Authorization: "Bearer x" }, /no session's/],
    [{ Authorization: `Bearer ${token}x` }, /no session's/],
    [{ Authorization: `Basic ${token}` }, /No wallet session/],
    [{ Authorization: "Bearer " }, /No wallet session/],
    [{ Authorization: `Bearer ${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}` }, /has ended/],
    [{ "X-Svc-Dev-Key": token }, /An API key does not open this/],
    [{ Cookie: `svc_session=${encodeURIComponent(`${token}; a`)}` }, /No wallet session/],
  ];
  for (const [headers, words] of cases) {
    for (const path of [sessionPath, sessionsPath]) {
      const answer = await api.get(path, headers);
      t.match(
        problem.parse(answer.json),
        { status: 401, code: "session_required", detail: words },
        JSON.stringify(headers),
      );
    }
    t.equal((await send(api, sessionPath, { method: "DELETE", headers })).status, 401);
  }
  t.equal((await api.get(sessionPath, { Authorization: `bearer  ${token}` })).status, 200);
});

t.test("a bearer token counts before a cookie", async (t) => {
  const alice = await signIn(api);
  const bob = await signIn(api, bobWallet);
  const both = { ...bob.bearer, Cookie: alice.cookie };
  t.match((await api.get(sessionPath, both)).json, { session: { address: bobWallet.address } });
  const foreign = { ...both, Origin: "https://evil.example" };
  t.equal((await send(api, sessionPath, { method: "DELETE", headers: foreign })).status, 204);
  t.equal((await api.get(sessionPath, alice.bearer)).status, 200, "a page of others did not end it");
});

t.test("no line of the log holds a token, a cookie, a signature or a nonce", async (t) => {
  const nonce = await askNonce(api);
  const message = messageOf(nonce, { address: aliceWallet.address });
  const signature = await aliceWallet.signMessage(message);
  const { text } = await send(api, sessionPath, { body: { message, signature } });
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(text));
  await send(api, sessionPath, { body: { message, signature } });
  await api.get(sessionPath, { Cookie: `svc_session=${token}`, Authorization: `Bearer ${token}` });
  const log = api.logLines.join("");
  t.match(log, /a wallet signed in/);
  for (const secret of [token, token.slice(4), signature, nonce.nonce]) t.notOk(log.includes(secret));
});
