import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { startStopwatch } from "../../../helpers/stopwatch.ts";
import { callsOf, callTo, echo, type StubCall, startPool } from "./start-pool.ts";

const isPoison = ({ params }: StubCall) => params[0] === "poison";
const hasPoison = (body: string) => callsOf(body).calls.some(isPoison);
const names = Array.from({ length: 29 }, (_, index) => `n${index}`);
const expected = names.map((name) => `{"jsonrpc":"2.0","id":7,"result":"${name}"}`);

function refusing(status: number, text: string): StubAnswer {
  return (_body, response) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
    return undefined;
  };
}

/** What a validator may do with whatever holds the culprit, alone or not. */
const spoiling: Record<string, StubAnswer> = {
  "cuts the answer": (_body, response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    response.write('[{"jsonrpc":"2.0",', () => response.destroy());
    return undefined;
  },
  "closes the connection": (_body, response) => {
    response.destroy();
    return undefined;
  },
  "answers 413": refusing(413, "Request Entity Too Large"),
  "answers 500": refusing(500, "Internal Server Error"),
  "answers garbage": () => "garbage",
  "answers one error object with id null": () =>
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}',
  "answers one error object with id 1": () =>
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request"}}',
};

for (const [what, spoil] of Object.entries(spoiling)) {
  for (const count of [1, 2, 5]) {
    t.test(
      `a call at which a validator ${what} costs no neighbour its answer: ${count} validators`,
      async (t) => {
        const answer: StubAnswer = (body, response, request) =>
          (hasPoison(body) ? spoil : echo)(body, response, request);
        const stubs = await Promise.all(
          Array.from({ length: count }, () => startStubValidator(t, { answer })),
        );
        const { ask } = startPool(
          t,
          stubs.map(({ url }) => url),
        );
        const poisoned = ask("web3_sha3", ["poison"]);
        t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
        t.notMatch(await poisoned, /result/);
        const bodies = stubs.flatMap((stub) => stub.bodies);
        const calls = bodies.reduce((sum, body) => sum + callsOf(body).calls.length, 0);
        // 30 at first, twice 30 for halves of halves, and the culprit alone wherever it may be asked.
        t.ok(calls <= 3 * 30 + 10 + 2 * count, `${calls} calls in ${bodies.length} requests`);
      },
    );
  }
}

for (const [lane, method] of [
  ["light", "web3_sha3"],
  ["call", "eth_call"],
] as const) {
  for (const count of [1, 2, 5]) {
    t.test(`a call that hangs holds up no neighbour: lane ${lane}, ${count} validators`, async (t) => {
      const answer: StubAnswer = (body, response, request) =>
        hasPoison(body) ? new Promise(() => {}) : echo(body, response, request);
      const stubs = await Promise.all(Array.from({ length: count }, () => startStubValidator(t, { answer })));
      const settings = { arrays: { splitAfterMs: 200 }, health: { sweepMs: 20 } };
      const { ask, pool, validator } = startPool(
        t,
        stubs.map(({ url }) => url),
        { settings },
      );
      const stopwatch = startStopwatch();
      const poisoned = pool.ask(callTo(method, ["poison"], { timeoutMs: 2000 }), { group: "a" });
      const neighbours = Array.from({ length: 5 }, () =>
        names.map((name) => ask(method, [name], { group: "a" })),
      );
      const answers = await Promise.all(neighbours.flat());
      const tookMs = stopwatch.elapsedMs();
      t.strictSame(answers, Array.from({ length: 5 }, () => expected).flat());
      t.ok(tookMs < 1900, `${tookMs} ms: 200 for the array, 100 for each half of it`);
      t.equal(await poisoned, "unavailable");
      const calls = stubs
        .flatMap(({ bodies }) => bodies)
        .reduce((sum, body) => sum + callsOf(body).calls.length, 0);
      t.ok(calls <= 146 + 3 * 64 + 20, `${calls} calls`);
      t.ok(
        Array.from({ length: count }, (_, index) => validator(index)).every(
          ({ breaker }) => breaker === "closed",
        ),
      );
    });
  }
}

t.test("several that hang at once leave the only validator a connection for the others", async (t) => {
  const answer: StubAnswer = (body, response, request) =>
    hasPoison(body) ? new Promise(() => {}) : echo(body, response, request);
  const stub = await startStubValidator(t, { answer });
  const settings = { arrays: { light: 8, splitAfterMs: 100 }, health: { sweepMs: 20 } };
  const { ask, pool } = startPool(t, [stub.url], { settings });
  const asked: Promise<string>[] = [];
  // One in each of three arrays, of four connections.
  for (const [index, name] of names.entries()) {
    if (index % 8 === 0 && index < 24) void pool.ask(callTo("web3_sha3", ["poison"]));
    asked.push(ask("web3_sha3", [name]));
  }
  const began = performance.now();
  t.strictSame(await Promise.all(asked), expected);
  const tookMs = performance.now() - began;
  t.ok(tookMs < 2000, `${tookMs} ms`);
});

t.test("calls that are meant for one validator are asked of it again without the culprit", async (t) => {
  const address = (index: number) => `0x${String(index).padStart(40, "0")}`;
  const answer: StubAnswer = (body, response, request) => {
    if (!body.includes(address(13))) return echo(body, response, request);
    response.destroy();
    return undefined;
  };
  const stub = await startStubValidator(t, { answer });
  const { ask } = startPool(t, [stub.url]);
  const asked = Array.from({ length: 20 }, (_, index) =>
    ask("eth_getTransactionCount", [address(index), "pending"]),
  );
  const answers = await Promise.all(asked);
  t.strictSame(
    answers.flatMap((text, index) => (text.includes("result") ? [] : [index])),
    [13],
  );
});

t.test(
  "an array that is only slow is answered all the same, and asked a bounded number of times",
  async (t) => {
    const answer: StubAnswer = async (body, response, request) => {
      // Three times as long as an array is waited for.
      if (!body.includes("eth_chainId")) await new Promise((resolve) => setTimeout(resolve, 600));
      return echo(body, response, request);
    };
    const stubs = await Promise.all([0, 1].map(() => startStubValidator(t, { answer })));
    const { ask } = startPool(
      t,
      stubs.map(({ url }) => url),
      { settings: { arrays: { splitAfterMs: 200 }, hedge: { shareMax: 0, burst: 0 } } },
    );
    const round = async () => {
      const began = performance.now();
      t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
      return performance.now() - began;
    };
    t.ok((await round()) < 1100, "the first answer counts, whichever it is");
    for (const stub of stubs) stub.bodies.length = 0;
    await round();
    const asked = stubs.flatMap(({ bodies }) => bodies).filter((body) => !body.includes("eth_chainId"));
    const requests = asked.length;
    t.ok(requests <= 2, `${requests} requests: that all take so long is no sign of a culprit`);
  },
);
