import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Wallet } from "ethers";
import t, { type Test } from "tap";
import { echoMethod, type StubAnswer, startStubValidator } from "../fakes/stub-validator.ts";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";

/** Time of a light call here; the shipped 10 s would make these tests long. */
const lightTimeoutMs = 3000;

const read = { jsonrpc: "2.0", id: 1, method: "net_version" };
/** Signed, for only what can be read is offered to a second validator when the first may have it. */
const transaction = await new Wallet(`0x${"11".repeat(32)}`).signTransaction({
  chainId: 8845,
  nonce: 0,
  to: `0x${"22".repeat(20)}`,
  value: 1n,
  gasLimit: 21_000n,
  gasPrice: 0n,
});
const send = { jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: [transaction] };
const answered = '{"jsonrpc":"2.0","id":1,"result":"net_version"}';
const idOf = (body: string): number => JSON.parse(body).id;

/** What a validator does instead of answering. It cuts an answer short after the first bytes have left. */
const failures: Record<string, StubAnswer> = {
  "hangs without a word": () => new Promise(() => {}),
  "hangs in the middle of its answer": (_body, response) =>
    void response.writeHead(200, { "Content-Length": "100" }).write('{"jsonrpc":'),
  "closes the connection": (_body, response) => void response.destroy(),
  "cuts a declared body short": (body, response) => {
    response
      .writeHead(200, { "Content-Length": "1000" })
      .write(String(echoMethod(body, response, response.req)));
    setTimeout(() => response.destroy(), 10);
    return undefined;
  },
  "cuts its chunks short": (body, response) => {
    response.writeHead(200).write(String(echoMethod(body, response, response.req)));
    setTimeout(() => response.destroy(), 10);
    return undefined;
  },
  "answers 500 with a page": (_body, response) => void response.writeHead(500).end("<h1>Error</h1>"),
  "answers 503 with nothing": (_body, response) => void response.writeHead(503).end(),
  "redirects elsewhere": (_body, response) => void response.writeHead(302, { Location: "/" }).end(),
  "answers no JSON": () => "It works!",
  "answers half a JSON text": (body) => `{"jsonrpc":"2.0","id":${idOf(body)},"result":"0x`,
  "answers twice in one": (body) => `{"id":${idOf(body)},"result":1}{"id":${idOf(body)},"result":1}`,
  "answers null": () => "null",
  "answers with an array": (body) => `[{"jsonrpc":"2.0","id":${idOf(body)},"result":1}]`,
  "answers another question": (body) => `{"jsonrpc":"2.0","id":${idOf(body) + 1},"result":1}`,
  "answers with the id as text": (body) => `{"jsonrpc":"2.0","id":"${idOf(body)}","result":1}`,
  "writes the id as a fraction": (body) => `{"jsonrpc":"2.0","id":${idOf(body)}.0,"result":1}`,
  "answers with two ids": (body) => `{"jsonrpc":"2.0","id":1,"result":1,"id":${idOf(body)}}`,
  "answers without an id": () => '{"jsonrpc":"2.0","result":1}',
  "answers with the id null": () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
  "answers neither result nor error": (body) => `{"jsonrpc":"2.0","id":${idOf(body)}}`,
  "answers both result and error": (body) =>
    `{"jsonrpc":"2.0","id":${idOf(body)},"result":1,"error":{"code":1,"message":"?"}}`,
};

t.test("failover", async (t) => {
  const redis = await startRedis(t);
  const methodsFile = join(testFolder(t), "methods.yaml");
  const shipped = readFileSync(new URL("../../config/methods.yaml", import.meta.url), "utf8");
  writeFileSync(
    methodsFile,
    shipped.replace("light: { timeoutMs: 10000 }", `light: { timeoutMs: ${lightTimeoutMs} }`),
  );
  const startBefore = (t: Test, upstreams: readonly string[]) =>
    startGateway(t, { redisUrl: redis.url, upstreams, change: (config) => ({ ...config, methodsFile }) });
  /** An address where nothing listens, and a way to have a validator there. */
  const startDead = async (t: Test) => {
    const { url, port, stop } = await startStubValidator(t);
    await stop();
    return { url, port, revive: () => startStubValidator(t, { port }) };
  };

  for (const [what, answer] of Object.entries(failures)) {
    t.test(`a validator that ${what} costs no read and no send`, async (t) => {
      const [bad, good] = await Promise.all([startStubValidator(t, { answer }), startStubValidator(t)]);
      const gateway = await startBefore(t, [bad.url, good.url]);
      for (let count = 0; count < 8; count += 1) {
        const { status, text } = await gateway.post(read);
        t.same({ status, text }, { status: 200, text: answered });
      }
      t.match((await gateway.post(send)).json, { id: 1, result: "eth_sendRawTransaction" });
      t.ok(bad.bodies.length > 0, "it was asked, and failed");
      const metrics = await metricsOf(gateway);
      t.match(
        metrics,
        /^tollgate_gateway_validator_(failures|hedges)_total\{validator="validator-1".*\} [1-9]/m,
      );
    });
  }

  t.test("a validator that nobody listens for: read and send go to the next", async (t) => {
    const [dead, good] = await Promise.all([startDead(t), startStubValidator(t)]);
    const gateway = await startBefore(t, [dead.url, good.url]);
    t.match((await gateway.post(send)).json, { id: 1, result: "eth_sendRawTransaction" });
    t.equal((await gateway.post(read)).text, answered);
    t.equal(good.bodies.length, 2);
    t.match(await statusOf(gateway), [{ identity: "unknown" }, { identity: "ours", breaker: "closed" }]);
  });

  t.test("an answer that comes too late is dropped: the client gets one, the other's", async (t) => {
    // Later than it is asked again elsewhere, and earlier than the call would have to end.
    const late: StubAnswer = async (body) => {
      await new Promise((resolve) => setTimeout(resolve, lightTimeoutMs * 0.7));
      return `{"jsonrpc":"2.0","id":${idOf(body)},"result":"late"}`;
    };
    const [slow, good] = await Promise.all([startStubValidator(t, { answer: late }), startStubValidator(t)]);
    const gateway = await startBefore(t, [slow.url, good.url]);
    t.equal((await gateway.post(read)).text, answered);
    // The late answer comes meanwhile.
    await new Promise((resolve) => setTimeout(resolve, lightTimeoutMs * 0.4));
    t.equal((await gateway.post(read)).text, answered);
  });

  t.test("two of three fail: the third answers within the time", async (t) => {
    const [dead, hung, good] = await Promise.all([
      startDead(t),
      startStubValidator(t, { answer: () => new Promise(() => {}) }),
      startStubValidator(t),
    ]);
    const gateway = await startBefore(t, [dead.url, hung.url, good.url]);
    for (let count = 0; count < 8; count += 1) {
      const posted = await gateway.post([read, { ...read, id: 2 }]);
      t.match(posted.json, [
        { id: 1, result: "net_version" },
        { id: 2, result: "net_version" },
      ]);
    }
  });

  t.test("all down: 503 that tells no address, then recovery", async (t) => {
    const [one, two] = await Promise.all([startStubValidator(t), startStubValidator(t)]);
    const gateway = await startBefore(t, [one.url, two.url]);
    t.match(await readyOf(gateway), { ready: true, degraded: false });
    await Promise.all([one.stop(), two.stop()]);
    for (const body of [read, [read, { ...read, id: 2 }]]) {
      const posted = await gateway.post(body);
      t.equal(posted.status, 503);
      t.equal(posted.headers.get("Retry-After"), "1");
      const error = { code: -32002, message: /try again/, data: { code: "upstream_unavailable" } };
      for (const answer of Array.isArray(posted.json) ? posted.json : [posted.json])
        t.match(answer, { error });
      for (const secret of ["127.0.0.1", String(one.port), String(two.port), "ECONN"])
        t.notMatch(posted.text, secret);
    }
    t.match(await readyOf(gateway), { ready: true, degraded: true, reasons: ["no validator answers"] });
    const mixed = await gateway.post([read, { ...read, id: 2, method: "x" }]);
    t.equal(mixed.status, 200, "where something was answered, the status is of the answer");
    t.match(mixed.json, [
      { id: 1, error: { code: -32002 } },
      { id: 2, error: { code: -32601 } },
    ]);
    const notified = await gateway.post({ jsonrpc: "2.0", method: "net_version" });
    t.equal(notified.status, 503, "not 204 for a notification");

    const unsent = await gateway.post(send);
    t.equal(unsent.status, 503);
    t.match(unsent.json, { error: { message: /try again/ } }, "it has reached nobody, and may be sent again");

    await startStubValidator(t, { port: two.port });
    const recovered = async () => (await gateway.post(read)).status === 200;
    const started = performance.now();
    while (!(await recovered()) && performance.now() - started < 5000);
    t.equal((await gateway.post(read)).text, answered);
  });
});

async function statusOf({ opsUrl }: GatewayUnderTest): Promise<unknown> {
  const { validators }: { validators: unknown } = JSON.parse(await (await fetch(`${opsUrl}/status`)).text());
  return validators;
}

async function readyOf({ opsUrl }: GatewayUnderTest): Promise<unknown> {
  return (await fetch(`${opsUrl}/readyz`)).json();
}

async function metricsOf({ opsUrl }: GatewayUnderTest): Promise<string> {
  return (await fetch(`${opsUrl}/metrics`)).text();
}
