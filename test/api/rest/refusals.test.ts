import t from "tap";
import { z } from "zod";
import { createRoutes } from "../../../api/rest/routes.ts";
import { exchangeRaw } from "../support/exchange-raw.ts";
import { startApi } from "../support/start-api.ts";
import { startServices } from "../support/start-world.ts";

const services = await startServices(t);
const api = await startApi(t, services);
const routes = createRoutes({ version: "0", publicUrl: "http://127.0.0.1:4000", graphqlSchema: () => "" });

const problem = z.strictObject({
  type: z.literal("about:blank"),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  code: z.string(),
  requestId: z.string(),
  errors: z.array(z.strictObject({ pointer: z.string(), message: z.string() })).optional(),
});
const good: Readonly<Record<string, string>> = {
  number: "0",
  hash: `0x${"ab".repeat(32)}`,
  address: `0x${"12".repeat(20)}`,
  name: "x",
};
const bad: Readonly<Record<string, readonly string[]>> = {
  number: ["-1", "1e3", "0x1", "1.5", "%00", "9999999999999999", "latest2"],
  hash: ["0x12", "zz", `0x${"g".repeat(64)}`, "%E0%A4%A"],
  address: ["0x12", "alice", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267"],
  limit: ["0", "101", "-1", "1.5", "all", ""],
  cursor: ["x", "!", "MS4xLjEuMS4x.", Buffer.from("1.99999999999.1.1.1").toString("base64url")],
  direction: ["up", ""],
  status: ["pending", ""],
  from: ["yesterday", "2026-13-01"],
  to: ["0", "2026-02-30"],
  blocks: ["0", "-1", "100000", "x"],
};

t.test("a bad parameter of any route is a problem document that names it", async (t) => {
  for (const { path, params, query } of routes) {
    for (const name of Object.keys(params.shape)) {
      for (const value of bad[name] ?? []) {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_all, key: string) =>
          key === name ? value : (good[key] ?? ""),
        );
        const answer = await api.get(filled);
        t.ok([400, 404].includes(answer.status), `${filled}: ${answer.status}`);
        problem.parse(answer.json);
      }
    }
    const filled = path.replaceAll(/\{(\w+)\}/g, (_all, key: string) => good[key] ?? "");
    for (const name of [...Object.keys(query.shape), "surprise"]) {
      for (const value of bad[name] ?? (name === "surprise" ? ["1"] : [])) {
        const answer = await api.get(`${filled}?${name}=${encodeURIComponent(value)}`);
        t.equal(answer.status, 400, `${filled}?${name}=${value}: ${answer.text}`);
        const pointers = problem.parse(answer.json).errors?.map(({ pointer }) => pointer);
        t.ok(pointers?.includes(`#/query/${name}`), `${name} in ${pointers}`);
      }
    }
  }
});

t.test("what is not there, and in which way", async (t) => {
  t.match(problem.parse((await api.get("/api/v1/nothing")).json), { status: 404, code: "not_found" });
  t.match(problem.parse((await api.get(`/api/v1/transactions/${good["hash"]}`)).json), { status: 404 });
  t.match(problem.parse((await api.get("/api/v1/blocks/4000000")).json), { status: 404 });
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const response = await fetch(`${api.url}/api/v1/chain`, { method });
    t.match(problem.parse(await response.json()), { status: 405, code: "method_not_allowed" }, method);
    t.match(response.headers.get("allow"), /GET/);
  }
  t.match(await api.get("/api/v1/chain", { Accept: "text/html" }), { status: 406 });
  t.match(await api.get("/api/v1/chain", { Accept: "application/json;q=0" }), { status: 406 });
  t.match(await api.get("/api/v1/chain", { Accept: "text/html, */*;q=0.1" }), { status: 200 });
  t.match(problem.parse((await api.get(`/api/v1/search?q=${"x".repeat(4000)}`)).json), { status: 414 });
});

t.test("requests that no handler sees are problem documents too", async (t) => {
  const raw = async (text: string) => exchangeRaw(api.url, text);
  for (const [title, text, status] of [
    ["a malformed escape", "GET /api/v1/blocks/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["a header too large", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431],
    [
      "a body of another type",
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 1\r\n\r\nx",
      415,
    ],
    [
      "a body too large",
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n",
      413,
    ],
  ] as const) {
    const answer = await raw(text);
    t.equal(answer.status, status, title);
    t.match(answer.head, /content-type: application\/problem\+json/i, title);
    problem.parse(JSON.parse(answer.body));
  }
});
