import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { FaucetConfig } from "../../faucet/config.ts";
import { faucetPausedKey } from "../../lib/redis/keys/faucet.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, flushAll, isCluster, startRedis } from "../helpers/redis.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { startFaucet } from "./support/start-faucet.ts";

const redis = await startRedis(t);
const anvil = await startAnvil(t);
const redisClient = await connectAdmin(t, redis.url);
let database = 0;

/** A faucet with a Redis of its own (a database, where those are numbered) and one address on its list. */
async function start(t: Test, change: (config: FaucetConfig) => FaucetConfig = (config) => config) {
  database += 1;
  const address = randomAddress();
  const redisUrl = isCluster ? redis.url : `${redis.url}/${database}`;
  if (isCluster) await flushAll(redisClient);
  const faucet = await startFaucet(t, { redisUrl, upstream: anvil.url, allowlist: [{ address }], change });
  return { ...faucet, address };
}

/** What comes back for these bytes until the faucet closes the connection, and after how long. */
async function exchange(url: string, bytes: string) {
  const startedMs = performance.now();
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(bytes);
  const answer = await text(socket);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { head, json: JSON.parse(body), tookMs: performance.now() - startedMs };
}

t.test("the honeypot is looked at first, and a field that comes twice is a filled one", async (t) => {
  const faucet = await start(t);
  const { address } = faucet;
  for (const website of ["x", " "]) {
    for (const wrong of ["", "0x12", 5, randomAddress()]) {
      t.match(await faucet.claim({ address: wrong, website }), {
        status: 400,
        json: { code: "request_refused", detail: "The request was refused" },
      });
    }
  }
  const send = async (form: string) => {
    const body = new URLSearchParams(form);
    const response = await fetch(`${faucet.url}/claim`, { method: "POST", body, redirect: "manual" });
    return { status: response.status, text: await response.text() };
  };
  for (const form of ["website=x&website=", "website=&website=x", "website=&website="]) {
    t.match(await send(`address=${address}&${form}`), { status: 400, text: /request_refused/ }, form);
  }
  t.match(await send(`address=${address}&address=${address}&website=`), {
    status: 400,
    text: /invalid_request/,
  });
  t.match(
    await send(`address=%20%20${address}%0A&website=`),
    { status: 303 },
    "blanks around it are no harm",
  );
});

t.test(
  "what the parser or the router refuses is a problem document, without a library's words",
  async (t) => {
    const faucet = await start(t, (config) => ({ ...config, requestTimeoutMs: 500 }));
    const libraryWords = /FST_|HPE_|ERR_|url component|param length|Client (?:Error|Timeout)/;
    for (const [path, status, code] of [
      ["/%zz", 400, "invalid_request"],
      ["/claims/%zz", 400, "invalid_request"],
      [`/claims/${"a".repeat(5000)}`, 404, "not_found"],
      [`/${"a".repeat(5000)}`, 404, "not_found"],
    ] as const) {
      const response = await fetch(faucet.url + path);
      const body = await response.text();
      t.equal(response.status, status, path.slice(0, 20));
      t.equal(response.headers.get("Content-Type"), "application/problem+json");
      t.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
      t.match(JSON.parse(body), { code, status, requestId: response.headers.get("X-Request-Id") });
      t.notMatch(body, libraryWords);
    }
    const late =
      "POST /claim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    for (const [bytes, status] of [
      ["HELLO\r\n\r\n", 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
      ["GET / HTTP/1.1\r\nHost: a\r\n", 408],
      [late, 408],
    ] as const) {
      const { head, json, tookMs } = await exchange(faucet.url, bytes);
      t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      t.match(head, /Content-Type: application\/problem\+json/);
      t.match(json, { type: "about:blank", status, code: "invalid_request", requestId: /^[0-9a-f-]{36}$/ });
      t.notMatch(JSON.stringify(json), libraryWords);
      // Half a second and a look each second; the rest is for busy machines.
      t.ok(tookMs < 10_000, `after ${Math.round(tookMs)} ms`);
    }
  },
);

t.test("a body in a coding is 415", async (t) => {
  const faucet = await start(t);
  const send = (encoding: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`${faucet.url}/claim`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Content-Encoding": encoding },
      body,
    });
  const body = JSON.stringify({ address: faucet.address });
  const packed = await send("gzip", new Uint8Array(gzipSync(body)));
  t.equal(packed.status, 415);
  t.match(await packed.json(), { code: "unsupported_media_type", detail: /Content-Encoding/ });
  t.equal((await send("identity", body)).status, 202);
});

t.test("refusals have a limit of their own, which nobody gets around by asking all at once", async (t) => {
  const faucet = await start(t, (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    limits: { ...config.limits, refusals: 5 },
  }));
  const from = (client: string, address: string) =>
    faucet.claim({ address }, { headers: { "X-Forwarded-For": client, "Idempotency-Key": "k" } });
  const statuses = async (count: number) => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => from("192.0.2.1", randomAddress())),
    );
    return answers.map(({ status }) => status).toSorted();
  };
  t.same(await statuses(40), [...Array(5).fill(403), ...Array(35).fill(429)]);
  const limited = await from("192.0.2.1", faucet.address);
  t.match(limited, { status: 429, json: { code: "rate_limited", detail: /were refused/ } });
  const retryAfter = Number(limited.headers.get("Retry-After"));
  t.ok(retryAfter > 0 && retryAfter <= 60, "nor is an address on the list told from others by then");
  t.match(await from("192.0.2.2", faucet.address), { status: 202 }, "others are not concerned");
  for (let again = 0; again < 8; again += 1) {
    t.equal((await from("192.0.2.2", faucet.address)).status, 202, "what is accepted does not count");
  }
  if (!isCluster) await redisClient.select(database);
  await redisClient.set(faucetPausedKey, 1);
  for (let again = 0; again < 8; again += 1) {
    const paused = await faucet.claim(
      { address: faucet.address },
      { headers: { "X-Forwarded-For": "192.0.2.3" } },
    );
    t.equal(paused.status, 503, "nor does what the faucet refuses for its own sake");
  }
  const metrics = await fetch(`${faucet.opsUrl}/metrics`).then((response) => response.text());
  t.match(metrics, /tollgate_faucet_refusals_total\{condition="rate_limited"\} 36/);
});
