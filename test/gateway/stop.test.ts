import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { echoMethod, type StubAnswer, startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey } from "../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../helpers/gateway-process.ts";
import { type RawOutcome, rawPost, rawRequest } from "../helpers/raw-http.ts";
import { openRawWebSocket } from "../helpers/raw-web-socket.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

const promisedMs = 5000;
/** On a busy machine a large answer takes its time to be read. */
const patienceMs = 20_000;
const call = rawPost({ key: coreKey, body: '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}' });
const answerAfter =
  (gate: Promise<void>, result: string): StubAnswer =>
  async (body) => {
    await gate;
    return `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":"${result}"}`;
  };

t.test("stopping", async (t) => {
  // Each of these waits most of its time.
  t.jobs = 3;
  const redis = await startRedis(t);
  const startBefore = async (
    t: Test,
    { answer = echoMethod, more = "" }: { answer?: StubAnswer; more?: string } = {},
  ) => {
    const stub = await startStubValidator(t, { answer });
    const file = writeConfig(t, { redisUrl: redis.url, upstream: stub.url, more });
    const beganMs = performance.now();
    const gateway = runGateway(t, ["--config", file]);
    const ports = await whenServing(gateway);
    const startMs = performance.now() - beganMs;
    return {
      stub,
      ...ports,
      kill: gateway.kill,
      /** Whether it kept its promise; a busy machine that takes seconds to start it takes as many of its end. */
      async ended() {
        const { code, afterMs } = await gateway.ended;
        return {
          code,
          afterMs,
          inTime: afterMs < promisedMs + startMs,
          said: `${afterMs} ms, ${startMs} to start`,
        };
      },
    };
  };
  const arrived = async (bodies: readonly string[]) => {
    await waitFor("the validator is asked", () => bodies.length > 0);
  };

  // A short answer, and one that no kernel takes in one piece.
  for (const [signal, resultChars] of [
    ["SIGTERM", 10],
    ["SIGINT", 4_000_000],
  ] as const) {
    const title = `${signal}: answers on their way are delivered, new connections refused, exit code 0`;
    t.test(title, { buffered: true }, async (t) => {
      const result = "x".repeat(resultChars);
      const [gate, openGate] = createGate();
      const answer = answerAfter(gate, result);
      const { kill, ended, stub, port, opsPort } = await startBefore(t, { answer });
      const inFlight = rawRequest(port, call, { responses: 2, waitMs: patienceMs });
      await arrived(stub.bodies);
      kill(signal);
      await refused(t, port);
      const ready = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
      t.equal(ready.status, 503, "no load balancer sends anything any more");
      t.match(await ready.json(), { ready: false, reasons: ["stopping"] });
      openGate();

      const { responses, closedAfterMs } = await inFlight;
      const [response] = responses;
      t.match(response, { status: 200, headers: { connection: "close" } });
      t.ok(response?.body === `{"jsonrpc":"2.0","id":7,"result":"${result}"}`, "the whole answer");
      t.ok(closedAfterMs !== undefined, "the connection is closed after it");
      const { code, inTime, said } = await ended();
      t.equal(code, 0);
      t.ok(inTime, said);
    });
  }

  t.test(
    "for drainDelayMs new connections are still served, each for one answer",
    { buffered: true },
    async (t) => {
      const { kill, ended, port, opsPort } = await startBefore(t, { more: "drainDelayMs: 5000" });
      const kept = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => kept.destroy());
      t.match(await askOver(kept, port), { status: 200, willClose: false });
      kill("SIGTERM");
      await waitFor("the balancer is told", async () => {
        return (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status === 503;
      });
      t.match(await askOver(kept, port), { status: 200, willClose: true }, "the kept connection ends");
      const { responses, closedAfterMs } = await rawRequest(port, call, { responses: 2 });
      t.match(responses, [{ status: 200, headers: { connection: "close" } }], "a new one has its answer");
      t.ok(closedAfterMs !== undefined, "and ends");
      await refused(t, port);
      const { code, afterMs } = await ended();
      t.equal(code, 0);
      t.ok(afterMs >= 5000, "the delay was waited for");
    },
  );

  t.test("an answer that is still being read is delivered whole", { buffered: true }, async (t) => {
    const result = "ab".repeat(12_000_000);
    const large: StubAnswer = (body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":"${result}"}`;
    const { kill, ended, port } = await startBefore(t, { answer: large });
    let bytes = 0;
    const socket = connect(port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.on("error", resolve).on("close", resolve));
    socket.write(call);
    // The first bytes, then a pause with the rest on its way.
    await new Promise((resolve) => socket.once("readable", resolve));
    kill("SIGTERM");
    await refused(t, port);
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await closed;
    t.ok(bytes > result.length, `${bytes} bytes came`);
    t.equal((await ended()).code, 0);
  });

  t.test("a call that no validator answers does not hold it up", { buffered: true }, async (t) => {
    const { kill, ended, stub, port } = await startBefore(t, { answer: () => new Promise(() => {}) });
    const inFlight = rawRequest(port, call, { waitMs: patienceMs, responses: 2 });
    await arrived(stub.bodies);
    kill("SIGTERM");
    const { code, inTime, said } = await ended();
    t.equal(code, 0);
    t.ok(inTime, said);
    assertTold(t, await inFlight, 7);
  });

  t.test("a WebSocket is told of what is late, then closed with 1001", { buffered: true }, async (t) => {
    const { kill, ended, stub, port } = await startBefore(t, { answer: () => new Promise(() => {}) });
    const socket = await openRawWebSocket(t, port);
    socket.send('{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}');
    await arrived(stub.bodies);
    kill("SIGTERM");
    const answer = await socket.next();
    t.match(JSON.parse(answer.payload.toString()), { id: 7, error: { code: -32002 } });
    const close = await socket.next();
    t.equal(close.payload.readUInt16BE(0), 1001);
    const { code, inTime, said } = await ended();
    t.equal(code, 0);
    t.ok(inTime, said);
  });

  t.test("idle connections and half requests do not hold it up", { buffered: true }, async (t) => {
    const { kill, ended, port } = await startBefore(t);
    const idle = rawRequest(port, call, { responses: 2 });
    const half = rawRequest(port, call.slice(0, 60));
    const halfBody = rawRequest(port, call.slice(0, -5), { responses: 2 });
    // Nothing tells that half a request has been read.
    await new Promise((resolve) => setTimeout(resolve, 200));
    kill("SIGTERM");
    const { code, inTime, said } = await ended();
    t.equal(code, 0);
    t.ok(inTime, said);
    for (const { closedAfterMs } of await Promise.all([idle, half])) t.ok(closedAfterMs !== undefined);
    assertTold(t, await halfBody, null);
  });

  t.test("it ends as well while it still waits for Redis", { buffered: true }, async (t) => {
    const gone = await startRedis(t);
    await gone.stop();
    const file = writeConfig(t, { redisUrl: gone.url, upstream: "http://127.0.0.1:1" });
    const gateway = runGateway(t, ["--config", file]);
    await waitFor("it says that Redis is not there", () =>
      gateway.output().includes("Redis connection failed"),
    );
    gateway.kill("SIGTERM");
    const { code, afterMs } = await gateway.ended;
    t.equal(code, 0);
    t.ok(afterMs < promisedMs);
  });
});

t.test("logs", async (t) => {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const unknownKey = "somebody-elses-secret-key";
  const bodies = [
    '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}',
    "no JSON",
    "[]",
    '{"jsonrpc":"2.0","method":"x"}',
  ];
  for (const level of ["info", "debug"]) {
    t.test(
      `at ${level}: ${level === "info" ? "no line" : "one line"} a request, and never a key`,
      async (t) => {
        const file = writeConfig(t, {
          redisUrl: redis.url,
          upstream: stub.url,
          more: `log: { level: ${level} }`,
        });
        const gateway = runGateway(t, ["--config", file]);
        const { port } = await whenServing(gateway);
        const linesBefore = gateway.output().split("\n").length;
        for (const body of bodies) {
          for (const key of [coreKey, unknownKey]) {
            await rawRequest(port, rawPost({ key, body }));
            await rawRequest(port, rawPost({ key: "", body, target: `/?key=${key}` }));
            await rawRequest(port, rawPost({ key, body, target: `/${key}` }));
          }
        }
        gateway.kill("SIGTERM");
        const { output } = await gateway.ended;
        const lines = output
          .split("\n")
          .slice(linesBefore - 1)
          .filter((line) => line !== "");
        const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
        t.equal(requests.length, level === "info" ? 0 : bodies.length * 6);
        t.equal(lines.length - requests.length, 2, "and two that say that it stops");
        for (const key of [coreKey, unknownKey]) t.notMatch(output, key);
      },
    );
  }
});

/** Whose answer was not there in time is told so, and then its connection is closed. */
function assertTold(t: Test, { responses: [response], closedAfterMs }: RawOutcome, id: number | null): void {
  t.match(response, { status: 503, headers: { connection: "close", "retry-after": "1" } });
  t.match(JSON.parse(response?.body ?? "{}"), {
    id,
    error: { code: -32002, data: { code: "upstream_unavailable" } },
  });
  t.ok(closedAfterMs !== undefined, "its connection is closed");
}

/** A call over an agent's connection, and whether the answer says that it is the connection's last. */
async function askOver(
  agent: Agent,
  port: number,
): Promise<{ status: number | undefined; willClose: boolean }> {
  const headers = { "Content-Type": "application/json", "X-API-Key": coreKey };
  const asked = request({ port, host: "127.0.0.1", method: "POST", agent, headers });
  asked.end('{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}');
  const [response]: IncomingMessage[] = await once(asked, "response");
  response?.resume();
  return { status: response?.statusCode, willClose: response?.headers.connection === "close" };
}

async function refused(_t: Test, port: number): Promise<void> {
  await waitFor("a new connection is refused", async () => {
    const socket = connect(port, "127.0.0.1");
    const outcome = await new Promise((resolve) => {
      socket.once("error", (error) => resolve("code" in error ? error.code : error));
      socket.once("connect", () => resolve("connected"));
    });
    socket.destroy();
    return outcome === "ECONNREFUSED";
  });
}

function createGate(): [opened: Promise<void>, open: () => void] {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}
