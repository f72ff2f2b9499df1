import { pino } from "pino";
import t from "tap";
import { z } from "zod";
import { openApiOf } from "../../../api/rest/openapi.ts";
import { noBody, type Operation, operation } from "../../../api/rest/operation.ts";
import { noParameters } from "../../../api/rest/parameters.ts";
import { apiKeyWith, noSecurity, walletSession } from "../../../api/rest/security.ts";
import { serveOperations } from "../../../api/rest/serve-operations.ts";
import { createBodyReader, jsonType } from "../../../lib/http-service/body-reader.ts";
import { createHttpService, listenOn } from "../../../lib/http-service/create-http-service.ts";
import { refusal } from "../../../lib/http-service/refusal.ts";
import { problem, wordsOfLibraries } from "../support/problem.ts";

const wallet = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const session = { wallet, id: "s", createdAt: new Date(0), expiresAt: new Date(1) };
const made: string[] = [];

const rows: Operation<{ make(name: string): string }>[] = [
  operation({
    ...{ method: "POST", path: "/things/{group}", operationId: "makeThing", tag: "Wallet session" },
    summary: "Makes a thing",
    security: walletSession,
    params: z.strictObject({ group: z.string().max(5, "At most 5 characters were expected") }),
    query: noParameters,
    body: z.strictObject({
      name: z.string("A text was expected"),
      inner: z.strictObject({ "a/b": z.int("A whole number was expected") }).optional(),
    }),
    responses: { 201: z.object({ thing: z.string(), of: z.string() }) },
    problems: ["payment_required"],
    problemMembers: { payment_required: z.object({ price: z.int() }) },
    answer({ params, body, caller, services }) {
      if (body.name === "gold") {
        return refusal("payment_required", "Pay first", {
          members: { price: 5, status: 200 },
          headers: { Location: "/pay" },
          retryAfterMs: 1500,
        });
      }
      const thing = services.make(`${params.group} ${body.name}`);
      return { status: 201, record: { thing, of: caller.wallet }, headers: { "Set-Cookie": ["a=1", "b=2"] } };
    },
  }),
  operation({
    ...{ method: "DELETE", path: "/things/{group}", operationId: "endThings", tag: "Wallet session" },
    ...{ summary: "Ends all", security: noSecurity, params: z.strictObject({ group: z.string() }) },
    ...{ query: noParameters, body: noBody, responses: { 204: undefined } },
    answer: () => ({ status: 204 }),
  }),
  operation({
    ...{
      method: "GET",
      path: "/mine",
      operationId: "getMine",
      tag: "Developer API",
      summary: "Mine",
      cost: 3,
    },
    ...{ security: apiKeyWith("invoices:read"), params: noParameters, query: noParameters, body: noBody },
    responses: { 200: z.object({ key: z.string() }) },
    answer: ({ caller }) => ({ status: 200, record: { key: caller.keyId } }),
  }),
];

const charged: number[] = [];
const bodies = createBodyReader({ what: "The body", types: [jsonType] });
const app = createHttpService({
  ...{ bodies, bodyBytesMax: 1000, requestTimeoutMs: 5000, logger: pino({ level: "silent" }) },
});
serveOperations(app, {
  operations: rows,
  services: {
    make(name) {
      made.push(name);
      return name;
    },
  },
  bodies,
  doors: {
    addressOf: () => "127.0.0.1",
    async charge({ cost }) {
      charged.push(cost);
      return { refund() {} };
    },
    requireSession: async ({ headers }) =>
      headers.authorization === undefined ? refusal("session_required", "Sign in first") : session,
    requireKey: async ({ cost, scope }) => ({ keyId: `${scope} ${cost}`, wallet, scopes: [scope] }),
  },
});
const server = await listenOn(app, { host: "127.0.0.1", port: 0 });
t.teardown(() => server.stop());
const url = `http://127.0.0.1:${server.port}`;

async function send(
  method: string,
  path: string,
  {
    body,
    headers = { Authorization: "Bearer x", "Content-Type": jsonType },
  }: { body?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

t.test("a body reaches its operation as a value, and the answer has its status and fields", async (t) => {
  const answer = await send("POST", "/things/a", { body: '{"name":"spoon"}' });
  t.equal(answer.status, 201);
  t.same(JSON.parse(answer.text), { thing: "a spoon", of: wallet });
  t.same(answer.headers.getSetCookie(), ["a=1", "b=2"]);
  t.equal(answer.headers.get("Cache-Control"), "no-store");
  const ended = await send("DELETE", "/things/a", { headers: {} });
  t.same([ended.status, ended.text], [204, ""]);
  t.same(JSON.parse((await send("GET", "/mine")).text), { key: "invoices:read 3" });
  t.same(charged, [1, 1], "a key is charged by its own door");
});

t.test("what is wrong with a body is told with a pointer to each field, in our words", async (t) => {
  const answer = await send("POST", "/things/toolong?x=1", { body: '{"nam~e":1,"inner":{"a/b":"1"}}' });
  t.equal(answer.status, 400);
  t.same(
    problem.parse(JSON.parse(answer.text)).errors,
    [
      { pointer: "#/path/group", message: "At most 5 characters were expected" },
      { pointer: "#/query/x", message: "There is no such parameter here" },
      { pointer: "/name", message: "A text was expected" },
      { pointer: "/inner/a~1b", message: "A whole number was expected" },
      { pointer: "/nam~0e", message: "There is no such field here" },
    ],
    answer.text,
  );
  for (const body of ["[]", "null", '"x"', "{", "1"]) {
    const refused = await send("POST", "/things/a", { body });
    t.equal(refused.status, 400, body);
    t.notMatch(refused.text, wordsOfLibraries);
  }
  const form = { Authorization: "Bearer x", "Content-Type": "application/x-www-form-urlencoded" };
  t.equal((await send("POST", "/things/a", { body: "name=1", headers: form })).status, 415);
  t.equal((await send("POST", "/things/a", { headers: { Authorization: "Bearer x" } })).status, 415);
  t.equal((await send("POST", "/things/a", { body: `{"name":"${"x".repeat(1000)}"}` })).status, 413);
  t.same(made, ["a spoon"], "nothing of it was carried out");
});

t.test("a stranger is told to sign in, whatever the body is", async (t) => {
  const answer = await send("POST", "/things/toolong", { body: "{", headers: { "Content-Type": jsonType } });
  t.equal(answer.status, 401);
  t.equal(problem.parse(JSON.parse(answer.text)).code, "session_required");
});

t.test("a refusal can have members and fields of its own, but not in place of the document's", async (t) => {
  const answer = await send("POST", "/things/a", { body: '{"name":"gold"}' });
  t.same(
    [answer.status, answer.headers.get("Location"), answer.headers.get("Retry-After")],
    [402, "/pay", "2"],
  );
  t.match(JSON.parse(answer.text), { status: 402, code: "payment_required", price: 5, detail: "Pay first" });
});

t.test("the description has methods of one path, bodies, security and the members of problems", async (t) => {
  const description = openApiOf({ routes: [], operations: rows, version: "0", servers: [] });
  t.match(JSON.parse(JSON.stringify(description)), {
    paths: {
      "/things/{group}": {
        post: {
          security: [{ sessionCookie: [] }, { sessionToken: [] }],
          requestBody: { content: { "application/json": { schema: { required: ["name"] } } } },
          responses: {
            201: {},
            401: { description: /session_required/ },
            402: {
              content: { "application/problem+json": { schema: { allOf: [{}, { required: ["price"] }] } } },
            },
            413: {},
            415: {},
          },
        },
        delete: { security: [], responses: { 204: {} } },
      },
      "/mine": {
        get: { description: /`invoices:read`/, responses: { 403: { description: /insufficient_scope/ } } },
      },
    },
  });
});

t.test("an answer of another type and a URL too long are refused before anybody is asked", async (t) => {
  const before = charged.length;
  t.equal((await send("GET", "/mine", { headers: { Accept: "text/html" } })).status, 406);
  t.equal((await send("GET", `/mine?${"x".repeat(2048)}`)).status, 414);
  t.equal(charged.length, before);
});
