import { METHODS } from "node:http";
import t from "tap";
import { createRoutes } from "../../../api/rest/routes.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { exchangeRaw } from "../support/exchange-raw.ts";
import { problem, wordsOfLibraries } from "../support/problem.ts";
import { startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";

const { anvil: _anvil, ...services } = await startServices(t);
const api = await startApi(t, services);
await waitFor("the index has its first block", async () =>
  (await api.get("/api/v1/blocks")).text.includes('"indexedBlock":0'),
);
const routes = createRoutes({ version: "0", publicUrl: "http://127.0.0.1:4000", graphqlSchema: () => "" });

const good: Readonly<Record<string, string>> = {
  number: "0",
  hash: `0x${"ab".repeat(32)}`,
  address: `0x${"12".repeat(20)}`,
  name: "x",
};
const goodQuery: Readonly<Record<string, readonly string[]>> = {
  limit: ["1", "100"],
  cursor: [],
  direction: ["in", "out", "both"],
  status: ["success", "failed"],
  from: ["2026-01-01", "0001-01-01"],
  to: ["2024-02-29", "9999-12-31"],
  blocks: ["1", "1000"],
  q: ["", "x", "\u0000", "%", "'; drop table chain.block", "x".repeat(100)],
};
const cursorOf = (text: string) => Buffer.from(text).toString("base64url");
const bad: Readonly<Record<string, readonly string[]>> = {
  number: ["-1", "1e3", "0x1", "1.5", "%00", "%31%00", "9999999999999999", "latest2", "01", "+1", "%20"],
  hash: ["0x12", "zz", `0x${"g".repeat(64)}`, `0x${"ab".repeat(33)}`, "%00"],
  address: ["0x12", "alice", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267", `0X${"12".repeat(20)}`],
  name: ["y".repeat(101), "%00", "..%2f..%2fetc"],
  limit: ["0", "101", "-1", "1.5", "all", "", " 1", "1e1", "\u0000"],
  cursor: [
    ...["x", "!", "", "MS4xLjEuMS4x.", "A".repeat(121), "\u0000"],
    // Of another version, another epoch, too few numbers, numbers beyond their columns, signs.
    ...["2.0.1.1.1", "1.7.1.1.1", "1.0.1.1", "1.0.1.1.1.1", "1.99999999999.1.1.1", "1.0.1.2147483648.1"].map(
      cursorOf,
    ),
    ...["1.0.1.1.32768", "1.0.-1.1.1", "1.0.1e3.1.1", "1.0.99999999999.1.1", "1.0..1.1"].map(cursorOf),
  ],
  direction: ["up", "", "IN"],
  status: ["pending", "", "\u0000"],
  from: ["yesterday", "2026-13-01", "", "2026-1-1", "+02026-01-01"],
  to: ["0", "2026-02-30", "9999-12-32"],
  blocks: ["0", "-1", "100000", "x", ""],
  q: ["x".repeat(101)],
};
const fill = (path: string, values: Readonly<Record<string, string>> = {}) =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? good[name] ?? "");

t.test("a bad parameter of any route is a problem document that names it, a good one is none", async (t) => {
  for (const { path, params, query } of routes) {
    for (const name of Object.keys(params.shape)) {
      t.ok(bad[name], `bad values for ${name} are known`);
      for (const value of bad[name] ?? []) {
        const filled = fill(path, { [name]: value });
        const answer = await api.get(filled);
        t.ok([400, 404].includes(answer.status), `${filled}: ${answer.status}`);
        problem.parse(answer.json);
        t.notMatch(answer.text, wordsOfLibraries, filled);
      }
    }
    const isAsked = (await api.get(`${fill(path)}${"q" in query.shape ? "?q=1" : ""}`)).status;
    t.ok([200, 404].includes(isAsked), `${path}: ${isAsked}`);
    const isKnown = (name: string) => Object.hasOwn(query.shape, name);
    for (const name of [...Object.keys(query.shape), "surprise", "__proto__", "a/b~c"]) {
      const values = isKnown(name) ? bad[name] : ["1"];
      t.ok(values, `bad values for ${name} are known`);
      const twice = isKnown(name) ? [`${name}=1&${name}=1`] : [];
      const asked = [
        ...(values ?? []).map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
        ...twice,
      ];
      for (const text of asked) {
        const answer = await api.get(`${fill(path)}?${text}`);
        t.equal(answer.status, 400, `${fill(path)}?${text}: ${answer.text}`);
        const pointers = problem.parse(answer.json).errors?.map(({ pointer }) => pointer);
        const pointer = `#/query/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        t.ok(pointers?.includes(pointer), `${pointer} in ${pointers}`);
        t.notMatch(answer.text, wordsOfLibraries, text);
      }
      for (const value of (isKnown(name) ? goodQuery[name] : undefined) ?? []) {
        const answer = await api.get(`${fill(path)}?${name}=${encodeURIComponent(value)}`);
        t.ok([200, 404].includes(answer.status), `${fill(path)}?${name}=${value}: ${answer.text}`);
      }
    }
  }
});

t.test("numbers at the edges of what columns hold are answered, not an error of the database", async (t) => {
  for (const path of [
    "/api/v1/blocks/999999999999999/transactions",
    `/api/v1/blocks?cursor=${cursorOf("1.1.9999999999.2147483647.32767")}`,
    `/api/v1/tokens/${good["address"]}/transfers?cursor=${cursorOf("1.1.9999999999.2147483647.32767")}`,
    `/api/v1/accounts/0x${"ff".repeat(20)}/transactions?from=0001-01-01&to=9999-12-31`,
    `/api/v1/accounts/0x${"00".repeat(20)}/transfers?direction=in`,
  ]) {
    const answer = await api.get(path);
    t.equal(answer.status, 200, `${path}: ${answer.text}`);
  }
});

t.test("what is not there, and in which way", async (t) => {
  t.match(problem.parse((await api.get("/api/v1/nothing")).json), { status: 404, code: "not_found" });
  t.match(problem.parse((await api.get(`/api/v1/transactions/${good["hash"]}`)).json), { status: 404 });
  t.match(problem.parse((await api.get("/api/v1/blocks/4000000")).json), { status: 404 });
  for (const [accept, status] of [
    ["text/html", 406],
    ["application/json;q=0", 406],
    ["application/json;q=0, */*", 406],
    ["application/*;q=0.000, text/csv", 406],
    ["text/html, */*;q=0.1", 200],
    ["application/*;q=0, application/json", 200],
    ["APPLICATION/JSON; charset=utf-8", 200],
    ["", 200],
  ] as const) {
    const answer = await api.get("/api/v1/chain", { Accept: accept });
    t.equal(answer.status, status, accept);
    if (status === 406) problem.parse(answer.json);
  }
  t.match(problem.parse((await api.get(`/api/v1/search?q=${"x".repeat(4000)}`)).json), { status: 414 });
});

t.test("a method that a path does not have is told which it has", async (t) => {
  // CONNECT asks for a tunnel, not for a path.
  const others = METHODS.filter((method) => !["GET", "HEAD", "CONNECT"].includes(method));
  const paths = routes.map(({ path }) => fill(path));
  const asked = [
    ...others.map((method) => [method, "/api/v1/blocks/1"] as const),
    ...paths.map((path) => ["POST", path] as const),
    ...paths.map((path) => ["QUERY", path] as const),
  ];
  for (const [method, path] of asked) {
    const { status, head, body } = await exchangeRaw(
      api.url,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    );
    t.equal(status, 405, `${method} ${path}: ${body}`);
    t.match(head, /\r\nallow: GET, HEAD\r\n/i, method);
    t.match(problem.parse(JSON.parse(body)), { code: "method_not_allowed" });
  }
  const withBody = await fetch(`${api.url}/api/v1/chain`, {
    method: "POST",
    headers: { "Content-Type": "text/csv" },
    body: "a,b",
  });
  t.ok([405, 415].includes(withBody.status), String(withBody.status));
  problem.parse(await withBody.json());
  const unknown = await exchangeRaw(api.url, "MADEUP /api/v1/chain HTTP/1.1\r\nHost: x\r\n\r\n");
  t.equal(unknown.status, 400);
  problem.parse(JSON.parse(unknown.body));
});

t.test("requests that no handler sees are problem documents too", async (t) => {
  const post = (fields: string, body = "") => `POST /graphql HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${body}`;
  for (const [title, text, status] of [
    ["a malformed escape", "GET /api/v1/blocks/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["an escape of half a character", "GET /api/v1/blocks/%E0%A4%A HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a malformed escape of a query", "GET /api/v1/blocks?limit=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["no Host", "GET /api/v1/chain HTTP/1.1\r\n\r\n", 400],
    ["two lengths", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    ["a header too large", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431],
    ["a URL as large as headers may be", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ["a body of another type", post("Content-Type: text/csv\r\nContent-Length: 1", "x"), 415],
    ["a body without a type", post("Content-Length: 1", "x"), 415],
    ["a body too large", post("Content-Type: application/json\r\nContent-Length: 99999999"), 413],
  ] as const) {
    const answer = await exchangeRaw(api.url, text);
    t.equal(answer.status, status, `${title}: ${answer.body}`);
    t.match(answer.head, /content-type: application\/problem\+json/i, title);
    t.match(answer.head, /x-request-id: /i, title);
    t.match(answer.head, /cache-control: no-store/i, title);
    problem.parse(JSON.parse(answer.body));
    t.notMatch(answer.body, wordsOfLibraries, title);
  }
});

t.test("a request that does not come whole in time is told so", async (t) => {
  const slow = await startApi(t, {
    ...services,
    change: (config) => ({ ...config, requestTimeoutMs: 300 }),
  });
  const answer = await exchangeRaw(slow.url, "GET /api/v1/chain HTTP/1.1\r\nHost: x\r\nX-Unfinished: ");
  t.equal(answer.status, 408);
  t.match(problem.parse(JSON.parse(answer.body)), { status: 408 });
});
