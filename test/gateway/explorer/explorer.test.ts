import { gzipSync } from "node:zlib";
import t from "tap";
import { coreKey, faucetOnlyKey, rpcOnlyKey, startGateway } from "../../helpers/gateway.ts";
import { ask, startExplorerGateway } from "./rig.ts";

const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

t.test("the explorer behind the gateway", async (t) => {
  const { redis, validator, api, gateway, get } = await startExplorerGateway(t, (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    keys: [
      ...config.keys,
      {
        label: "few",
        team: "tests",
        value: "test-key-with-three-points-a-minute",
        permissions: ["explorer"],
        limitPerMinute: 3,
      },
    ],
  }));
  t.beforeEach(() => {
    api.requests.length = 0;
    api.answerWith((response) => response.setHeader("Content-Type", "text/html").end("<h1>a page</h1>"));
  });

  t.test("a page comes as the API makes it, and costs a call", async (t) => {
    api.answerWith((response) =>
      response
        .writeHead(200, {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": "default-src 'none'",
          "Cache-Control": "private, max-age=1",
          ETag: '"abc"',
          Vary: "Accept-Language",
          RateLimit: '"default";r=9;t=60',
          "X-Internal": "name of a machine",
        })
        .end("<h1>Block 7 – ok</h1>"),
    );
    const { status, headers, body } = await get("/explorer/block/7?lang=id");
    t.equal(status, 200);
    t.equal(body, "<h1>Block 7 – ok</h1>");
    t.match(headers, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'",
      "cache-control": "private, max-age=1",
      etag: '"abc"',
      vary: "Accept-Language, X-API-Key",
      "x-content-type-options": "nosniff",
      ratelimit: /^"default";r=\d+;t=\d+, "address";r=9;t=60$/,
    });
    t.notOk(headers["x-internal"]);
    t.match(api.requests, [{ method: "GET", url: "/block/7?lang=id" }]);
  });

  t.test("the API gets what a page is made by, and never the key or cookies of others", async (t) => {
    await get("/explorer/", {
      ...browser,
      "Accept-Encoding": "br, gzip",
      "Accept-Language": "id",
      Cookie: "session=secret; tollgate_language=id; tollgate_language=../x; other=1",
      "If-None-Match": '"abc"',
      "X-Forwarded-For": "198.51.100.9, 192.0.2.7",
      "X-Forwarded-Proto": "https",
      "X-Tollgate-Team": "somebody-else",
      Authorization: "Bearer secret",
      Referer: "http://127.0.0.1/secret",
    });
    const [asked] = api.requests;
    t.equal(asked?.url, "/");
    const { host, connection, ...headers } = asked?.headers ?? {};
    t.ok(host);
    t.ok(connection);
    t.strictSame(headers, {
      accept: browser.Accept,
      "accept-encoding": "gzip",
      "accept-language": "id",
      cookie: "tollgate_language=id",
      "if-none-match": '"abc"',
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-proto": "https",
      "x-forwarded-prefix": "/explorer",
    });
  });

  t.test("an unchanged page is a 304 without a body, and a HEAD is the head alone", async (t) => {
    api.answerWith((response, { method }) => {
      if (method === "HEAD")
        response.writeHead(200, { "Content-Type": "text/html", "Content-Length": 15 }).end();
      else response.writeHead(304, { ETag: '"abc"' }).end();
    });
    const unchanged = await get("/explorer/blocks", { "If-None-Match": '"abc"' });
    t.match(unchanged, { status: 304, body: "", headers: { etag: '"abc"' } });
    const head = await get("/explorer/blocks", {}, "HEAD");
    t.match(head, { status: 200, body: "", headers: { "content-length": "15" } });
  });

  t.test("a long file comes through byte for byte", async (t) => {
    const long = "0123456789abcdef".repeat(65_536);
    api.answerWith((response) => response.setHeader("Content-Type", "text/javascript").end(long));
    const { body, isWhole } = await get("/explorer/docs/try.js");
    t.ok(body === long);
    t.ok(isWhole);
  });

  t.test("a file comes compressed where the browser takes it so", async (t) => {
    const short = gzipSync("a long text");
    api.answerWith((response, { headers }) => {
      const isAsked = headers["accept-encoding"] === "gzip";
      if (isAsked) response.setHeader("Content-Encoding", "gzip").end(short);
      else response.end("a long text");
    });
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "gzip"],
      ["br, gzip;q=0.5", "gzip"],
      ["gzip;q=0, br", undefined],
      ["br", undefined],
      ["*", undefined],
    ] as const) {
      const { headers } = await get("/explorer/docs/scalar.js", { "Accept-Encoding": accepted });
      t.equal(headers["content-encoding"], encoding, accepted);
    }
  });

  t.test("GraphQL takes a query; no other path takes a body", async (t) => {
    const headers = { "X-API-Key": coreKey, "Content-Type": "application/json" };
    const query = '{"query":"{chain{chainId}}"}';
    api.answerWith((response) => response.setHeader("Content-Type", "application/json").end('{"data":{}}'));
    const asked = { path: "/explorer/graphql", method: "POST", headers, body: query };
    t.match(await ask(gateway.port, asked), { status: 200, body: '{"data":{}}' });
    t.match(api.requests, [{ method: "POST", url: "/graphql", body: query }]);
    const elsewhere = await ask(gateway.port, { ...asked, path: "/explorer/blocks" });
    t.match(elsewhere, { status: 405, headers: { allow: "GET, HEAD" } });
    const long = await ask(gateway.port, { ...asked, body: `"${"x".repeat(65_536)}"` });
    t.equal(long.status, 413);
    const form = { ...headers, "Content-Type": "application/x-www-form-urlencoded" };
    t.equal((await ask(gateway.port, { ...asked, headers: form })).status, 415);
    const chunked = await ask(gateway.port, {
      ...asked,
      headers: { ...headers, "Transfer-Encoding": "chunked" },
    });
    t.equal(chunked.status, 400);
    const bodied = await get("/explorer/blocks", { "Content-Length": "3" }, "GET");
    t.equal(bodied.status, 400);
    t.equal(api.requests.length, 1);
  });

  t.test("/explorer leads to the folder, with the query", async (t) => {
    const { status, headers } = await get("/explorer?lang=id");
    t.equal(status, 308);
    t.equal(headers.location, "/explorer/?lang=id");
    t.equal(headers["content-length"], "0", "a client on a kept connection would wait for its body's end");
    t.ok(headers["ratelimit"]);
    t.same(api.requests, []);
    t.equal((await get("/explorers")).status, 404);
  });

  t.test("without a key, and with one that lacks the permission, the API sees nothing", async (t) => {
    for (const [key, status, code] of [
      [undefined, 401, "api_key_missing"],
      ["tg_dev_unknown-key-of-somebody", 401, "api_key_invalid"],
      [rpcOnlyKey, 403, "insufficient_permission"],
      [faucetOnlyKey, 403, "insufficient_permission"],
    ] as const) {
      const headers: Record<string, string> = key === undefined ? {} : { "X-API-Key": key };
      const document = await ask(gateway.port, { path: "/explorer/", headers });
      t.equal(document.status, status);
      t.equal(document.headers["content-type"], "application/problem+json");
      t.match(JSON.parse(document.body), { status, code, detail: String, requestId: String });
      const page = await ask(gateway.port, { path: "/explorer/", headers: { ...headers, ...browser } });
      t.equal(page.status, status);
      t.match(page.headers, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": /^default-src 'none'; style-src 'sha256-/,
        "cache-control": "no-store",
      });
      t.match(page.body, code);
      t.match(page.body, status === 401 ? "wallet proxy" : "permission <code>explorer</code>");
    }
    t.same(api.requests, []);
  });

  t.test("a key beyond its limit gets a page that says when to come again", async (t) => {
    const headers = { "X-API-Key": "test-key-with-three-points-a-minute", ...browser };
    const statuses = [];
    for (let times = 0; times < 4; times += 1) {
      statuses.push((await ask(gateway.port, { path: "/explorer/", headers })).status);
    }
    t.same(statuses, [200, 200, 200, 429]);
    const { headers: got, body } = await ask(gateway.port, { path: "/explorer/", headers });
    t.match(got, { "retry-after": /^\d+$/, ratelimit: /r=0/ });
    t.match(body, /Load this page again<\/a> in \d+ seconds?/);
    t.equal(api.requests.length, 3);
  });

  t.test("a path that is read in two ways does not leave the folder", async (t) => {
    for (const path of ["/explorer/../admin", "/explorer/%2e%2e/admin", "/explorer/a\\b", "/explorer/a%/é"]) {
      const { status } = await get(path);
      t.equal(status, 400, path);
    }
    t.same(api.requests, []);
    t.equal((await get("/explorer//evil.example/")).status, 200);
    t.match(api.requests, [{ url: "//evil.example/" }], "the API's own path, not another host");
  });

  t.test("redirects stay in the explorer, and so do cookies", async (t) => {
    const cookies = ["tollgate_language=id; Max-Age=60; Path=/; HttpOnly; SameSite=Lax", "session=1; Path=/"];
    for (const [location, there] of [
      ["./block/7", "/explorer/block/7"],
      ["../block/7?a=1#b", "/explorer/block/7?a=1#b"],
      ["/tx/0x1", "/explorer/tx/0x1"],
      [`${api.url}/blocks`, "/explorer/blocks"],
    ] as const) {
      api.answerWith((response) =>
        response.writeHead(303, { Location: location, "Set-Cookie": cookies }).end(),
      );
      const { status, headers } = await get("/explorer/search?q=7");
      t.equal(status, 303);
      t.equal(headers.location, there);
      t.strictSame(headers["set-cookie"], [
        "tollgate_language=id; Max-Age=60; Path=/explorer/; HttpOnly; SameSite=Lax",
      ]);
    }
    for (const location of ["https://evil.example/", "//evil.example/", "javascript:alert(1)"]) {
      api.answerWith((response) => response.writeHead(303, { Location: location }).end());
      const { status, headers } = await get("/explorer/search?q=7");
      t.equal(status, 503, location);
      t.notOk(headers.location);
    }
  });

  t.test("an API that is away is a page, or a problem document", async (t) => {
    await api.stop();
    const page = await get("/explorer/", browser);
    t.equal(page.status, 503);
    t.match(page.body, "The explorer is away");
    t.equal(page.headers["retry-after"], "5");
    t.match(JSON.parse((await get("/explorer/")).body), { status: 503, code: "upstream_unavailable" });
    t.match(gateway.logLines.join(""), "the explorer does not answer");
    t.match(
      await (await fetch(`${gateway.opsUrl}/metrics`)).text(),
      /explorer_failures_total\{reason="away"\} [1-9]/,
    );

    const without = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
    const headers = { "X-API-Key": coreKey };
    const nowhere = await ask(without.port, { path: "/explorer/", headers });
    t.match(JSON.parse(nowhere.body), { status: 503, detail: /no explorer/ });
  });

  t.test("the key shows nowhere", (t) => {
    t.notMatch(gateway.logLines.join(""), coreKey);
    t.notMatch(JSON.stringify(api.requests), coreKey);
    t.end();
  });
});
