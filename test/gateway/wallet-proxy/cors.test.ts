import t from "tap";
import { ask, startProxy, startTarget } from "./rig.ts";

const origin = "http://localhost:3000";

t.test("a preflight is answered by the proxy, with what JSON-RPC needs", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const preflight = (path: string, more: Record<string, string> = {}) =>
    ask(port, {
      method: "OPTIONS",
      path,
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
        ...more,
      },
    });
  const { status, headers, body } = await preflight("/");
  t.equal(status, 204);
  t.equal(body, "");
  t.match(headers, {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": /\bPOST\b/,
    "access-control-allow-headers": /Content-Type, X-API-Key/,
    "access-control-max-age": /^\d+$/,
    vary: "Origin",
  });
  t.notOk(headers["access-control-allow-private-network"], "not asked for");
  t.notOk(headers["access-control-allow-credentials"], "cookies have no business here");

  const fromInternet = await preflight("/", { "Access-Control-Request-Private-Network": "true" });
  t.equal(fromInternet.headers["access-control-allow-private-network"], "true");

  t.equal((await preflight("/elsewhere")).status, 404);
  t.same(target.requests, [], "the gateway was not asked");
});

t.test("an answer says who may read it, and which headers, whatever the gateway says of that", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  target.answerWith((response) => {
    response.writeHead(429, {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Expose-Headers": "Secret",
      Vary: "Accept-Encoding",
      RateLimit: '"default";r=0;t=5',
      "Retry-After": "5",
    });
    response.end("{}");
  });
  const { status, headers } = await ask(port, { headers: { Origin: origin } });
  t.equal(status, 429);
  t.match(headers, {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "RateLimit, RateLimit-Policy, Retry-After",
    vary: "Origin, Accept-Encoding",
    ratelimit: '"default";r=0;t=5',
    "retry-after": "5",
  });
  t.notOk(headers["access-control-allow-credentials"]);

  t.test("so does a refusal of our own", async (t) => {
    await target.stop();
    const { status, headers } = await ask(port, { headers: { Origin: origin } });
    t.equal(status, 503);
    t.equal(headers["access-control-allow-origin"], origin);
  });

  t.test("without an Origin there is nothing to say", async (t) => {
    const { headers } = await ask(port);
    t.notOk(headers["access-control-allow-origin"]);
  });
});
