import t from "tap";
import { createPages } from "../../../api/explorer/create-pages.ts";
import { startTcpProxy } from "../../fakes/tcp-proxy.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { alice, bob, gold, startWorld } from "../support/start-world.ts";

const world = await startWorld(t);
const { api, services, hashes } = world;
const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const indonesian = { ...browser, "Accept-Language": "id,en;q=0.5" };

/** One address for each page of the table. */
const examples: Readonly<Record<string, string>> = {
  "/block/:block": "/block/1",
  "/tx/:hash": `/tx/${hashes.payment}`,
  "/address/:address": `/address/${alice}`,
  "/contract/:address": `/contract/${gold}`,
  "/token/:address": `/token/${gold}`,
  "/search": "/search?q=",
};
const paths = createPages({ routes: [], isDevelopment: true })
  .map(({ path }) => examples[path] ?? path)
  .filter((path) => !path.startsWith("/validator/"));

const linksOf = (text: string) =>
  [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, link = ""]) => link.replaceAll("&amp;", "&"));

t.test("every page is whole, in both languages, and says so", async (t) => {
  for (const path of paths) {
    for (const [language, headers] of [
      ["en", browser],
      ["id", indonesian],
    ] as const) {
      const { status, text, headers: got } = await api.get(path, headers);
      t.equal(status, 200, path);
      t.match(text, `<html lang="${language}">`);
      t.match(text, /<title>[^<]+ · Tollgate [^<]+<\/title>/);
      t.match(text, /<meta name="description" content="[^"]{10,}">/);
      t.equal(text.match(/<h1[ >]/g)?.length, 1, `one heading: ${path}`);
      t.notMatch(text, /undefined|\[object|NaN|\bnull\b/, path);
      t.notMatch(text, /style="|<script>|onclick/, "nothing is inline");
      t.equal(got.get("vary"), "Accept-Language, Cookie, Origin");
      t.match(got.get("content-security-policy") ?? "", /^default-src 'none'; script-src 'self'/);
      t.ok(text.length < 100_000, `${path} has ${text.length} bytes`);
    }
  }
});

t.test("every link leads to something, at the root and in a folder", async (t) => {
  const seen = new Set<string>();
  const queue = ["/"];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path) || seen.size > 150) continue;
    seen.add(path);
    const { status, headers, text } = await api.get(path, browser);
    t.equal(status, 200, path);
    if (!(headers.get("content-type") ?? "").startsWith("text/html")) continue;
    const targets = linksOf(text).map((link) => new URL(link, `http://x/explorer${path}`).href);
    const outside = targets.filter((target) => !target.startsWith("http://x/explorer/"));
    t.strictSame(outside, [], `no link of ${path} leads out of the folder that a proxy serves`);
    queue.push(...targets.map((target) => target.slice("http://x/explorer".length)));
  }
  t.ok(seen.size > 40, `${seen.size} pages and files`);
});

t.test("a transaction says in words what it did", async (t) => {
  const words = async (hash: string) => (await api.get(`/tx/${hash}`, browser)).text;
  const payment = await words(hashes.payment);
  t.match(payment, /Success<\/span><\/span> <span>0xf39Fd6…b92266 sent 1 TEST to 0x709979…dc79C8\./);
  const failed = await words(hashes.failed);
  t.match(failed, /Failed<\/span>/);
  t.match(failed, "its fee was paid; everything else that it did was undone");
  const transfer = await words(hashes.transfer);
  t.match(transfer, "=GLD", "a symbol is text, whatever it begins with");
  t.match(transfer, "0.000005", "by the token's decimals");
  t.match(
    transfer,
    /sent 0\.000005 =GLD \(0x[0-9a-fA-F]{6}…[0-9a-fA-F]{6}\) to 0x709979…dc79C8\./,
    "with the token's address",
  );
  t.match(await words(hashes.creation), "created a contract");
  const contracts = (await api.get("/contracts", browser)).text;
  t.match(contracts, `href="./tx/${hashes.creation}"`);
  t.notMatch(contracts, hashes.failed, "one that failed created none");
});

t.test("a list is filtered, paged and taken along as CSV by its links alone", async (t) => {
  const rows = (text: string) => text.match(/<tr>/g)?.length;
  t.equal(rows((await api.get(`/address/${alice}?direction=out&status=failed`, browser)).text), 2);
  t.equal(rows((await api.get(`/address/${bob}?direction=out&status=&from=&to=`, browser)).text), undefined);
  const { text } = await api.get(`/address/${alice}?direction=out`, browser);
  const csv = linksOf(text).find((link) => link.includes(".csv"));
  t.equal(csv, `../api/v1/accounts/${alice}/transactions.csv?direction=out`);
  const hashesOf = (text: string) =>
    [...text.matchAll(/<th scope="row"><a href="\.\/tx\/(\w+)"/g)].map(([, hash]) => hash);
  const whole = hashesOf((await api.get("/txs", browser)).text);
  t.equal(whole.length, 4);
  const found: unknown[] = [];
  for (let path: string | undefined = "/txs?limit=3"; path !== undefined; ) {
    const page: string = (await api.get(path, browser)).text;
    found.push(...hashesOf(page));
    path = /<a rel="next" href="\.([^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&");
  }
  t.strictSame(found, whole, "joined pages are the list");
});

t.test("what cannot be is a page that says what to do", async (t) => {
  const cases = [
    ["/http://[", 404, "This page does not exist"],
    ["//evil.example/x", 404, "This page does not exist"],
    ["/nothing/here", 404, "This page does not exist"],
    ["/block/99999", 404, "Block 99,999 does not exist yet"],
    [`/block/0x${"ab".repeat(32)}`, 404, "This block is not of this chain"],
    ["/block/x", 404, "This page does not exist"],
    [`/tx/0x${"ab".repeat(32)}`, 404, "not of this network (chain ID 8845)"],
    ["/tx/0x12", 404, "This page does not exist"],
    ["/address/0x12", 404, "This is not an address"],
    [`/address/${alice.replace("f39F", "F39f")}`, 404, "This is not an address"],
    [`/token/${bob}`, 404, "This page does not exist"],
    [`/validator/${bob}`, 404, "No validator has this address"],
    ["/search?q=nobody", 404, "Nothing is known of “nobody”."],
    ["/blocks?cursor=MTk5LjE", 410, "This list has changed"],
    ["/address/0x12/qr.svg", 404, "This page does not exist"],
  ] as const;
  for (const [path, status, text] of cases) {
    const answer = await api.get(path, browser);
    t.equal(answer.status, status, path);
    t.match(answer.text, text, path);
    t.match(answer.text, "<!doctype html>");
    t.equal(answer.headers.get("cache-control"), "no-store", path);
    for (const link of linksOf(answer.text)) t.notMatch(link, /^\//, "its links are relative too");
  }
  t.equal(
    (await api.get("/blocks?limit=abc&utm_source=mail", browser)).status,
    200,
    "of a query the rest counts",
  );
});

t.test("what one looks for is found, and one hit is gone to", async (t) => {
  const go = async (q: string) => {
    const response = await fetch(`${api.url}/search?q=${encodeURIComponent(q)}`, {
      headers: browser,
      redirect: "manual",
    });
    return [response.status, response.headers.get("location")];
  };
  t.strictSame(await go(" 1 "), [303, "./block/1"]);
  t.strictSame(await go(hashes.payment.toUpperCase().replace("0X", "0x")), [303, `./tx/${hashes.payment}`]);
  t.strictSame(await go(alice.toLowerCase()), [303, `./address/${alice}`]);
});

t.test("programs get problem documents, people pages", async (t) => {
  for (const [path, headers] of [
    ["/nothing", {}],
    ["/api/v1/nothing", browser],
    ["/graphql/x", browser],
  ] as const) {
    const { status, headers: got } = await api.get(path, headers);
    t.equal(status, 404, path);
    t.equal(got.get("content-type"), "application/problem+json", path);
  }
  const posted = await fetch(`${api.url}/blocks`, { method: "POST", headers: browser });
  t.equal(posted.status, 405);
  t.match(posted.headers.get("allow"), "GET");
});

t.test("nothing that others wrote becomes a tag", async (t) => {
  const bad = `"><script>alert(1)</script>`;
  const { text } = await api.get(
    `/search?q=${encodeURIComponent(bad)}&lang=${encodeURIComponent(bad)}`,
    browser,
  );
  t.notMatch(text, "<script>alert");
  t.match(text, "&lt;script&gt;");
  const odd = await api.get(`/blocks?${encodeURIComponent(bad)}=${encodeURIComponent(bad)}`, browser);
  t.notMatch(odd.text, "<script>alert");
  const host = await api.get("/nothing", {
    ...browser,
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Prefix": "/evil",
  });
  t.notMatch(host.text, "evil", "no header of a client has a say in where links lead");
});

t.test("the programs of others get a policy of their own, and GraphiQL is for development", async (t) => {
  for (const path of ["/docs/try", "/graphql"]) {
    const { status, headers, text } = await api.get(path, browser);
    t.equal(status, 200, path);
    const policy = headers.get("content-security-policy") ?? "";
    t.match(policy, "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'");
    t.notMatch(policy, "unsafe-eval");
    t.notMatch(
      text,
      /<script(?! defer src="\.\/)|style="|https?:/,
      "nothing is inline, nothing from elsewhere",
    );
    for (const [, file = ""] of text.matchAll(/(?:src|href)="(\.\/[^"]+\.(?:js|css))"/g)) {
      const at = new URL(file, `${api.url}${path}`).pathname;
      const whole = await api.get(at, { "Accept-Encoding": "identity" });
      t.equal(whole.status, 200, at);
      t.equal(whole.headers.get("content-encoding"), null, at);
      const packed = await api.get(at, { "Accept-Encoding": "gzip" });
      t.equal(packed.headers.get("content-encoding"), "gzip");
      t.ok(packed.text === whole.text && whole.text.length > 20, "the same, packed or not");
      const etag = whole.headers.get("etag") ?? "";
      t.equal((await api.get(at, { "If-None-Match": etag })).status, 304, at);
    }
  }
  t.match((await api.get("/docs", browser)).text, 'href="./graphql"');
  t.equal((await api.get("/graphql", { Accept: "application/json" })).status, 400, "a program gets no page");
  const production = await startApi(t, {
    ...services,
    change: (config) => ({
      ...config,
      profile: "production",
      origins: ["https://a.example", "https://b.example"],
    }),
  });
  t.equal((await production.get("/graphql/graphiql.js", browser)).status, 404);
  t.notMatch((await production.get("/graphql", browser)).text, "GraphiQL");
  t.notMatch((await production.get("/docs", browser)).text, 'href="./graphql"');
  t.equal((await production.get("/docs/try", browser)).status, 200);
  t.equal((await production.get("/design", browser)).status, 404, "the page of all elements is for us");
});

t.test("a language is chosen by a link and kept, else it is the browser's", async (t) => {
  const languageOf = async (path: string, headers: Record<string, string>) => {
    const { text, headers: got } = await api.get(path, { ...browser, ...headers });
    return [/<html lang="(\w+)">/.exec(text)?.[1], got.get("set-cookie")];
  };
  t.strictSame(await languageOf("/", {}), ["en", null]);
  t.strictSame(await languageOf("/", { "Accept-Language": "de, id;q=0.8, en;q=0.5" }), ["id", null]);
  t.strictSame(await languageOf("/", { "Accept-Language": "de" }), ["en", null]);
  t.strictSame(await languageOf("/", { Cookie: "a=b; tollgate_language=id" }), ["id", null]);
  t.strictSame(await languageOf("/", { Cookie: "tollgate_language=%00<x>" }), ["en", null]);
  const [language, cookie] = await languageOf("/blocks?lang=id", {});
  t.equal(language, "id");
  t.match(cookie, /^tollgate_language=id; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
  const { text } = await api.get("/blocks?limit=50", browser);
  t.ok(linksOf(text).includes("./blocks?limit=50&lang=id"), "the same page in the other language");
});

t.test("a page is made once a head, and a copy that is still right is not sent again", async (t) => {
  const first = await api.get("/network", browser);
  const etag = first.headers.get("etag") ?? "";
  t.match(etag, /^"[\w-]{22}"$/);
  const again = await api.get("/network", { ...browser, "If-None-Match": etag });
  t.equal(again.status, 304);
  t.equal(again.text, "");
  const other = await api.get("/network", { ...indonesian, "If-None-Match": etag });
  t.equal(other.status, 200, "another language is another page");
  const head = await fetch(`${api.url}/network`, { method: "HEAD", headers: browser });
  t.equal(head.status, 200);
  t.equal(head.headers.get("content-length"), String(Buffer.byteLength(first.text)));
});

t.test("a browser asks for a page's files once a release", async (t) => {
  const { text } = await api.get("/block/1");
  const [, folder] = /<link rel="stylesheet" href="\.\.\/(files\/[\w-]{12}\/)page\.css">/.exec(text) ?? [];
  if (folder === undefined) throw new Error("the page has no style sheet");
  for (const name of ["page.css", "page.js", "copy.js", "icon.svg"]) {
    const file = await api.get(`/${folder}${name}`);
    t.equal(file.status, 200, name);
    t.equal(file.headers.get("Cache-Control"), "public, max-age=31536000, immutable");
    const other = await api.get(`/files/of-a-replica/${name}`);
    t.equal(other.text, file.text, "a replica of another release has its own");
    t.equal(other.headers.get("Cache-Control"), "no-cache");
  }
  t.equal((await api.get(`/${folder}nothing.js`)).status, 404);
});

t.test("who asks for too many pages is told so on a page", async (t) => {
  const { url: redisUrl } = await startRedis(t);
  const limited = await startApi(t, {
    ...services,
    redisUrl,
    change: (config) => ({ ...config, limits: { ...config.limits, points: 2 } }),
  });
  // Before Redis is there each process counts by itself.
  await waitFor("it counts in Redis", async () => {
    const ready = await fetch(`${limited.opsUrl}/readyz`);
    return ready.ok && !(await ready.text()).includes("Redis");
  });
  const statuses = [];
  for (const path of ["/network", "/docs", "/burns", "/nothing", "/page.css"]) {
    const { status, text } = await limited.get(path, browser);
    statuses.push(status);
    if (status === 429) t.match(text, /This address has asked for more than it may\. It goes on in \d+ s\./);
  }
  t.strictSame(statuses, [200, 200, 429, 404, 200], "what costs nothing to make costs nothing");
});

t.test("a chain or an index that is away is a page that tries again", async (t) => {
  const proxyOf = async (address: string) => {
    const url = new URL(address);
    const port = Number(url.port);
    const proxy = await startTcpProxy({ port: () => port, answer: (client, data) => client.write(data) });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= proxy.stop();
      return stopped;
    };
    t.teardown(stop);
    url.port = String(proxy.port);
    return { url: url.href, stop };
  };
  const [chain, index] = await Promise.all([proxyOf(services.upstream), proxyOf(services.postgresUrl)]);
  const own = await startApi(t, { redisUrl: services.redisUrl, upstream: chain.url, postgresUrl: index.url });
  t.equal((await own.get("/blocks", browser)).status, 200);
  await index.stop();
  const away = await own.get("/blocks?limit=50", browser);
  t.equal(away.status, 503);
  t.match(away.text, "The index does not answer.");
  t.match(away.text, 'data-retry-seconds="5"', "a browser with scripts asks again");
  t.match(
    away.text,
    '<noscript><p class="note"><a href="./blocks?limit=50">Load this page again</a></p></noscript>',
  );
  const home = await own.get("/", browser);
  t.equal(home.status, 200, "what the chain says goes on");
  t.match(home.text, "Lists cannot be shown at the moment");
  await chain.stop();
  const gone = await own.get(`/address/${bob}`, browser);
  t.equal(gone.status, 503);
  t.match(gone.text, "The chain does not answer.");
});
