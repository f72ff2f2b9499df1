import t, { type Test } from "tap";
import { startStubValidator } from "../fakes/stub-validator.ts";
import {
  coreKey,
  expiredKey,
  faucetOnlyKey,
  type GatewayUnderTest,
  rpcOnlyKey,
  startGateway,
} from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

const json = "application/json";
const call = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
type Asked = { path: string; method?: string; key?: string; type?: string; body?: string };

async function ask(gateway: GatewayUnderTest, { path, method = "POST", key, type = json, body }: Asked) {
  const headers = { "Content-Type": type, ...(key === undefined ? {} : { "X-API-Key": key }) };
  const response = await fetch(new URL(path, gateway.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === "" ? {} : JSON.parse(text) };
}

async function startRig(t: Test): Promise<GatewayUnderTest> {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  return startGateway(t, {
    redisUrl: redis.url,
    upstreams: [stub.url],
    change: (config) => ({ ...config, faucetUrl: stub.url }),
  });
}

const claim = "/faucet/claim";
const problems: Record<string, Asked & { status: number }> = {
  "no such path": { path: "/v1", status: 404 },
  "another method": { path: "/", method: "PUT", body: call, status: 405 },
  "another method for a claim": { path: claim, method: "PUT", body: "{}", status: 405 },
  "a claim of another type": { path: claim, type: "text/plain", body: "{}", status: 415 },
  "a claim that is too large": { path: claim, body: " ".repeat(5000), status: 413 },
};

t.test("a problem document names its request, and so does the log", async (t) => {
  const gateway = await startRig(t);
  const seen = new Set<string>();
  for (const key of [undefined, coreKey]) {
    for (const [what, { status, ...asked }] of Object.entries(problems)) {
      const answered = await ask(gateway, key === undefined ? asked : { ...asked, key });
      t.equal(answered.status, status, what);
      t.equal(answered.headers.get("content-type"), "application/problem+json");
      const { requestId } = answered.json;
      t.match(requestId, /^[0-9a-f-]{36}$/);
      t.notOk(seen.has(requestId), "its own");
      seen.add(requestId);
      t.ok(
        gateway.logLines.some((line) => JSON.parse(line).requestId === requestId),
        "a line of the log has it",
      );
    }
  }
  const unkeyed = await ask(gateway, { path: claim, body: "{}" });
  t.match(unkeyed.json, { status: 401, code: "api_key_missing", requestId: /^[0-9a-f-]{36}$/ });
});

t.test("every answer to a good key tells of its limit, and costs a point", async (t) => {
  const gateway = await startRig(t);
  const remaining = (headers: Headers) => Number(/;r=(\d+)/.exec(headers.get("RateLimit") ?? "")?.[1]);
  const all: Record<string, Asked & { status: number }> = {
    ...problems,
    "a key without rpc": { path: "/", body: call, key: faucetOnlyKey, status: 403 },
    "a key without faucet": { path: claim, body: "{}", key: rpcOnlyKey, status: 403 },
    "a body of another type": { path: "/", type: "text/plain", body: call, status: 415 },
    "a body that is too large": { path: "/", body: " ".repeat(1024 * 1024 + 1), status: 413 },
    "no JSON": { path: "/", body: "x", status: 400 },
    "a good call": { path: "/", body: call, status: 200 },
  };
  for (const [what, { status, key = coreKey, ...asked }] of Object.entries(all)) {
    const first = await ask(gateway, { ...asked, key });
    const second = await ask(gateway, { ...asked, key });
    t.equal(second.status, status, what);
    t.ok(second.headers.get("RateLimit-Policy"), what);
    t.ok(remaining(second.headers) < remaining(first.headers), `${what}: a point less`);
  }
  const none = { path: "/v1", status: 404 };
  for (const key of [undefined, expiredKey, "an-unknown-key-of-somebody"]) {
    const { headers, status } = await ask(gateway, key === undefined ? none : { ...none, key });
    t.equal(status, 404);
    t.equal(headers.get("RateLimit"), null, "no limit of somebody else's");
  }
});

t.test("a claim that is too large is told about claims", async (t) => {
  const gateway = await startRig(t);
  const { json: problem } = await ask(gateway, { path: claim, key: coreKey, body: " ".repeat(5000) });
  t.match(problem.detail, /4096 bytes; a claim/);
  t.notMatch(problem.detail, "batch");
});
