import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { echoMethod, type StubAnswer, startStubValidator } from "../helpers/stub-validator.ts";

/** Time of a light call here; the shipped 10 s would make these tests long. Each of two validators gets half. */
const lightTimeoutMs = 800;

const read = { jsonrpc: "2.0", id: 1, method: "net_version" };
const send = { jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: ["0x02"] };
const answered = '{"jsonrpc":"2.0","id":1,"result":"net_version"}';
const idOf = (body: string): number => JSON.parse(body).id;

/** What a validator does instead of answering, and what the gateway calls it. */
const failures: Record<string, [answer: StubAnswer, reason: string]> = {
  "hangs without a word": [() => new Promise(() => {}), "timeout"],
  "hangs in the middle of its answer": [
    (_body, response) => void response.writeHead(200, { "Content-Length": "100" }).write('{"jsonrpc":'),
    "timeout",
  ],
  "closes the connection": [(_body, response) => void response.destroy(), "closed"],
  "cuts a declared body short": [
    (body, response) => {
      response
        .writeHead(200, { "Content-Length": "1000" })
        .write(String(echoMethod(body, response, response.req)));
      setTimeout(() => response.destroy(), 10);
      return undefined;
    },
    "closed",
  ],
  "cuts its chunks short": [
    (body, response) => {
      response.writeHead(200).write(String(echoMethod(body, response, response.req)));
      setTimeout(() => response.destroy(), 10);
      return undefined;
    },
    "closed",
  ],
  "answers 500 with a page": [
    (_body, response) => void response.writeHead(500).end("<h1>Error</h1>"),
    "bad_answer",
  ],
  "answers 503 with nothing": [(_body, response) => void response.writeHead(503).end(), "bad_answer"],
  "redirects elsewhere": [
    (_body, response) => void response.writeHead(302, { Location: "/" }).end(),
    "bad_answer",
  ],
  "answers no JSON": [() => "It works!", "bad_answer"],
  "answers half a JSON text": [(body) => `{"jsonrpc":"2.0","id":${idOf(body)},"result":"0x`, "bad_answer"],
  "answers twice in one": [
    (body) => `{"id":${idOf(body)},"result":1}{"id":${idOf(body)},"result":1}`,
    "bad_answer",
  ],
  "answers null": [() => "null", "bad_answer"],
  "answers with an array": [(body) => `[{"jsonrpc":"2.0","id":${idOf(body)},"result":1}]`, "bad_answer"],
  "answers another question": [(body) => `{"jsonrpc":"2.0","id":${idOf(body) + 1},"result":1}`, "bad_answer"],
  "answers with the id as text": [
    (body) => `{"jsonrpc":"2.0","id":"${idOf(body)}","result":1}`,
    "bad_answer",
  ],
  "writes the id as a fraction": [
    (body) => `{"jsonrpc":"2.0","id":${idOf(body)}.0,"result":1}`,
    "bad_answer",
  ],
  "answers with two ids": [(body) => `{"jsonrpc":"2.0","id":1,"result":1,"id":${idOf(body)}}`, "bad_answer"],
  "answers without an id": [() => '{"jsonrpc":"2.0","result":1}', "bad_answer"],
  "answers with the id null": [
    () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
    "bad_answer",
  ],
  "answers neither result nor error": [(body) => `{"jsonrpc":"2.0","id":${idOf(body)}}`, "bad_answer"],
  "answers both result and error": [
    (body) => `{"jsonrpc":"2.0","id":${idOf(body)},"result":1,"error":{"code":1,"message":"?"}}`,
    "bad_answer",
  ],
};

t.test("failover", async (t) => {
  const redis = await startRedis(t);
  const methodsFile = join(t.testdir(), "methods.yaml");
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

  for (const [what, [answer, reason]] of Object.entries(failures)) {
    t.test(`a validator that ${what}`, async (t) => {
      const [bad, good] = await Promise.all([startStubValidator(t, { answer }), startStubValidator(t)]);
      const gateway = await startBefore(t, [bad.url, good.url]);
      // Sent first, so that it meets the failing one.
      const sent = await gateway.post(send);
      assertUnavailable(t, sent, /not known.*hash/);
      t.same([bad.bodies.length, good.bodies.length], [1, 0], "a send that may have arrived is not repeated");

      const started = performance.now();
      const { status, text } = await gateway.post(read);
      t.same({ status, text }, { status: 200, text: answered }, "a read is answered by the next");
      t.ok(performance.now() - started < lightTimeoutMs, "within the call's time");
      t.match(await statusOf(gateway), [
        { url: bad.url, answering: false, lastFailure: { reason, at: /^20.*Z$/ } },
        { url: good.url, answering: true, lastFailure: null },
      ]);
      const metrics = await metricsOf(gateway);
      t.match(metrics, `tollgate_gateway_validator_failures_total{validator="0",reason="${reason}"} 2`);
      t.match(metrics, 'tollgate_gateway_validator_calls_total{validator="1"} 1');
    });
  }

  t.test("a validator that nobody listens for: read and send go to the next", async (t) => {
    const [dead, good] = await Promise.all([startDead(t), startStubValidator(t)]);
    const first = await startBefore(t, [dead.url, good.url]);
    t.match((await first.post(send)).json, { id: 1, result: "eth_sendRawTransaction" });
    const second = await startBefore(t, [dead.url, good.url]);
    t.equal((await second.post(read)).text, answered);
    t.equal(good.bodies.length, 2);
    t.match(await statusOf(second), [
      { answering: false, lastFailure: { reason: "connect" } },
      { answering: true },
    ]);
  });

  t.test("an answer that comes too late is dropped: the client gets one, the other's", async (t) => {
    const late: StubAnswer = async (body) => {
      await new Promise((resolve) => setTimeout(resolve, lightTimeoutMs * 0.7));
      return `{"jsonrpc":"2.0","id":${idOf(body)},"result":"late"}`;
    };
    const [slow, good] = await Promise.all([startStubValidator(t, { answer: late }), startStubValidator(t)]);
    const gateway = await startBefore(t, [slow.url, good.url]);
    t.equal((await gateway.post(read)).text, answered);
    await new Promise((resolve) => setTimeout(resolve, lightTimeoutMs * 0.4));
    t.equal((await gateway.post(read)).text, answered);
  });

  t.test(
    "two of three fail: the third answers within the time, and is asked first from then on",
    async (t) => {
      const [dead, hung, good] = await Promise.all([
        startDead(t),
        startStubValidator(t, { answer: () => new Promise(() => {}) }),
        startStubValidator(t),
      ]);
      const gateway = await startBefore(t, [dead.url, hung.url, good.url]);
      const started = performance.now();
      t.equal((await gateway.post(read)).text, answered);
      t.ok(performance.now() - started < lightTimeoutMs);
      const again = performance.now();
      const posted = await gateway.post([read, { ...read, id: 2 }]);
      t.match(posted.json, [
        { id: 1, result: "net_version" },
        { id: 2, result: "net_version" },
      ]);
      t.ok(performance.now() - again < lightTimeoutMs / 4, "without waiting for the others again");
      t.equal(hung.bodies.length, 1);
    },
  );

  t.test("all down: 503 that tells no address, then recovery", async (t) => {
    const [one, two] = await Promise.all([startDead(t), startDead(t)]);
    const gateway = await startBefore(t, [one.url, two.url]);
    t.match(await readyOf(gateway), { ready: true, degraded: false });
    for (const body of [read, [read, { ...read, id: 2 }]]) {
      const posted = await gateway.post(body);
      assertUnavailable(t, posted, /try again/);
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
    t.equal(
      (await gateway.post({ jsonrpc: "2.0", method: "net_version" })).status,
      503,
      "not 204 for a notification",
    );

    await two.revive();
    t.equal((await gateway.post(read)).text, answered);
    t.match(await statusOf(gateway), [{ answering: false }, { answering: true }]);
    t.match(await readyOf(gateway), { ready: true, degraded: false, reasons: [] });
  });

  t.test("a validator that comes back is asked again when the other fails", async (t) => {
    const [one, two] = await Promise.all([startDead(t), startStubValidator(t)]);
    const gateway = await startBefore(t, [one.url, two.url]);
    t.equal((await gateway.post(read)).text, answered);
    const revived = await one.revive();
    await two.stop();
    t.equal((await gateway.post(read)).text, answered);
    t.equal(revived.bodies.length, 1);
    t.match(await statusOf(gateway), [{ answering: true }, { answering: false }]);
  });
});

function assertUnavailable(t: Test, posted: { status: number; json: unknown }, says: RegExp): void {
  t.equal(posted.status, 503);
  const error = { code: -32002, message: says, data: { code: "upstream_unavailable" } };
  for (const answer of Array.isArray(posted.json) ? posted.json : [posted.json]) t.match(answer, { error });
}

async function statusOf({ opsUrl }: GatewayUnderTest): Promise<unknown> {
  return Object(await (await fetch(`${opsUrl}/status`)).json()).validators;
}

async function readyOf({ opsUrl }: GatewayUnderTest): Promise<unknown> {
  return (await fetch(`${opsUrl}/readyz`)).json();
}

async function metricsOf({ opsUrl }: GatewayUnderTest): Promise<string> {
  return (await fetch(`${opsUrl}/metrics`)).text();
}
