import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import t, { type Test } from "tap";
import { createBodyReader, jsonType } from "../../../lib/http-service/body-reader.ts";
import { createHttpService, listenOn } from "../../../lib/http-service/create-http-service.ts";
import { isRefusal, refusal } from "../../../lib/http-service/refusal.ts";

const bodies = createBodyReader({ what: "A note", types: [jsonType] });
class StoreAwayError extends Error {}

async function start(t: Test, { hosts }: { hosts?: readonly string[] } = {}) {
  const app = createHttpService({
    bodies,
    bodyBytesMax: 100,
    requestTimeoutMs: 500,
    ownHosts: hosts === undefined ? undefined : { names: hosts, setting: "notes.hosts" },
    explain: (error) =>
      error instanceof StoreAwayError
        ? refusal("service_unavailable", "The store is away", { retryAfterMs: 1500 })
        : undefined,
    logger: pino({ level: "silent" }),
  });
  app.get("/notes/:id", async () => ({ ok: true }));
  app.post("/notes", async (request) => {
    const read = bodies.read(request);
    return isRefusal(read) ? { refused: read } : { read };
  });
  app.get("/broken", async () => {
    throw new Error("a secret of ours");
  });
  app.get("/away", async () => {
    throw new StoreAwayError();
  });
  const { port, stop } = await listenOn(app, { host: "127.0.0.1", port: 0 });
  t.teardown(stop);
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  /** What comes back for these bytes until the connection is closed. */
  const exchange = async (bytes: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(bytes);
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    return { head, problem: JSON.parse(body) };
  };
  return { ask, exchange, port };
}

t.test("every refusal is a problem document with the request's ID", async (t) => {
  const { ask } = await start(t);
  const post = (body: string, headers = {}) => ask("/notes", { method: "POST", body, headers });
  const json = { "Content-Type": "application/json" };
  for (const [asked, status, code] of [
    [ask("/nothing"), 404, "not_found"],
    [ask("/notes/1", { method: "DELETE" }), 405, "method_not_allowed"],
    [post("x".repeat(101), json), 413, "body_too_large"],
    [post("x", { "Content-Type": "text/plain" }), 415, "unsupported_media_type"],
    [ask("/notes/%zz"), 400, "invalid_request"],
    [ask("/broken"), 500, "internal_error"],
    [ask("/away"), 503, "upstream_unavailable"],
  ] as const) {
    const { status: was, headers, text: body } = await asked;
    const problem = JSON.parse(body);
    t.match({ was, ...problem }, { was: status, status, code, requestId: headers.get("X-Request-Id") });
    t.equal(headers.get("Content-Type"), "application/problem+json");
    t.equal(headers.get("Cache-Control"), "no-store");
    t.notMatch(body, /FST_|secret/);
  }
  t.equal((await ask("/away")).headers.get("Retry-After"), "2");
});

t.test("405 tells the methods of the path, as its routes have them", async (t) => {
  const { ask } = await start(t);
  for (const [path, method, allow] of [
    ["/notes/1", "POST", "GET, HEAD"],
    ["/notes/1/", "POST", "GET, HEAD"],
    ["/notes", "GET", "POST"],
  ] as const) {
    const { status, headers } = await ask(path, { method });
    t.same([status, headers.get("Allow")], [405, allow], path);
  }
  t.equal((await ask("/notes/1/2", { method: "POST" })).status, 404);
});

t.test("what no handler sees is answered too: late, too large, and malformed requests", async (t) => {
  const { exchange } = await start(t);
  for (const [bytes, status] of [
    ["GET /notes/1 HTTP/1.1\r\nHost: a\r\n", 408],
    [`GET /notes/1 HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["nonsense\r\n\r\n", 400],
  ] as const) {
    const { head, problem } = await exchange(bytes);
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `));
    t.match(head, /application\/problem\+json/);
    t.match(problem, { status, code: "invalid_request" });
  }
});

t.test("a listener for machines answers to its own names only", async (t) => {
  const { exchange } = await start(t, { hosts: ["notes"] });
  const { head, problem } = await exchange(
    "GET /notes/1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  );
  t.match(head, /^HTTP\/1.1 403 /);
  t.match(problem, { code: "forbidden", detail: /notes\.hosts/ });
});

t.test("a body is JSON, plain and of the right type, or the client is told what was expected", async (t) => {
  const { ask } = await start(t);
  const send = async (body: string, headers = {}) => {
    const answer = await ask("/notes", {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
    });
    return JSON.parse(answer.text);
  };
  t.same(await send('{"a":1}'), { read: { body: { a: 1 } } });
  t.match(await send("{"), { refused: { refused: "parse_error", detail: "The body is not valid JSON" } });
  t.match(await send("{}", { "Content-Encoding": "gzip" }), {
    refused: { detail: "A note is sent as it is, without a Content-Encoding such as gzip" },
  });
});

t.test("a port that is taken is named", async (t) => {
  const { port } = await start(t);
  const app = createHttpService({
    bodies,
    bodyBytesMax: 1,
    requestTimeoutMs: 100,
    logger: pino({ level: "silent" }),
  });
  await t.rejects(
    listenOn(app, { host: "127.0.0.1", port }),
    new RegExp(`127.0.0.1:${port} cannot be listened on`),
  );
  await app.close();
});
