import { readFileSync } from "node:fs";
import t from "tap";
import { createApiKey } from "../../../lib/keys/api-key.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { writeCertificate } from "../../helpers/certificate.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { ask, startProxy } from "./rig.ts";

t.test("a wallet that knows no key uses the network through it", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
  const gatewayUrl = gateway.url.slice(0, -1);
  const direct = await ask(gateway.port);
  t.equal(direct.status, 401, "the gateway itself wants a key");

  const { port, logLines } = await startProxy(t, { gatewayUrl }, coreKey);
  const { status, headers, body } = await ask(port, { headers: { Origin: "http://localhost:3000" } });
  t.equal(status, 200);
  t.match(JSON.parse(body), { jsonrpc: "2.0", id: 7, result: "eth_chainId" });
  t.match(headers, {
    ratelimit: /^"default";r=\d+;t=\d+$/,
    "ratelimit-policy": /^"default";q=\d+;w=60$/,
    "access-control-allow-origin": "http://localhost:3000",
    "access-control-expose-headers": /RateLimit, RateLimit-Policy, Retry-After/,
  });

  t.test("the key shows nowhere: not in an answer, not in a log", async (t) => {
    const answers = [
      { status, headers, body },
      await ask(port, { method: "GET" }),
      await ask(port, { method: "GET", path: "/network.json" }),
      await ask(port, { method: "GET", path: "/page.js" }),
      await ask(port, { method: "GET", path: "/explorer/" }),
      await ask(port, { method: "TRACE" }),
      await ask(port, { body: "no JSON" }),
    ];
    await gateway.stop();
    answers.push(await ask(port));
    t.equal(answers.at(-1)?.status, 503, "also while the gateway is away");
    for (const answer of answers) t.notMatch(JSON.stringify(answer), coreKey);
    t.ok(logLines.length > 0);
    t.notMatch(logLines.join(""), coreKey);
  });
});

t.test("what the gateway refuses reaches the wallet as it is", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
  const gatewayUrl = gateway.url.slice(0, -1);
  const { port } = await startProxy(t, { gatewayUrl }, createApiKey({ profile: "production" }));
  const unknown = await ask(port, { headers: { "X-API-Key": coreKey } });
  t.equal(unknown.status, 401, "a good key of the client's own does not help");
  t.match(JSON.parse(unknown.body), { id: 7, error: { code: -32090, data: { code: "api_key_invalid" } } });

  const good = await startProxy(t, { gatewayUrl }, coreKey);
  const forbidden = await ask(good.port, { body: '{"jsonrpc":"2.0","id":1,"method":"admin_peers"}' });
  t.match(JSON.parse(forbidden.body), { id: 1, error: { code: -32601 } });
  t.same(validator.bodies, []);
});

t.test("a gateway that speaks TLS itself, with a self-made certificate", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const { certFile, keyFile } = await writeCertificate(testFolder(t));
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({ ...config, tls: { certFile, keyFile } }),
  });
  const gatewayUrl = `https://127.0.0.1:${gateway.port}`;
  const { port } = await startProxy(t, { gatewayUrl, ca: readFileSync(certFile, "utf8") }, coreKey);
  const { status, body } = await ask(port);
  t.equal(status, 200);
  t.match(JSON.parse(body), { id: 7, result: "eth_chainId" });
});
