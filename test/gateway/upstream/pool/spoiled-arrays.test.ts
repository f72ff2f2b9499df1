import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { answering, callsOf, echo, type StubCall, startPool } from "./start-pool.ts";

const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
const expected = names.map((name) => `{"jsonrpc":"2.0","id":7,"result":"${name}"}`);
const arrayRefused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';

/** What a validator may make of an array; calls that are asked alone are answered. */
const spoiling: Record<string, (calls: StubCall[], items: string[]) => string> = {
  "one error object for all": () => arrayRefused,
  "one error object with somebody's id": () =>
    '{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"Invalid Request"}}',
  "one answer missing": (_calls, items) => `[${items.filter((_item, index) => index !== 5).join(",")}]`,
  "one answer twice": (_calls, items) => `[${[...items, items[5]].join(",")}]`,
  "one answer with another's id": (_calls, items) =>
    `[${items.map((item, index) => (index === 5 ? item.replace('"id":6', '"id":2') : item)).join(",")}]`,
  "answers in reverse": (_calls, items) => `[${items.reverse().join(",")}]`,
  "no answer at all": () => "[]",
};

for (const [what, spoil] of Object.entries(spoiling)) {
  t.test(`an array that comes back with ${what} costs nobody an answer`, async (t) => {
    const answer: StubAnswer = (body, response, request) => {
      const { calls, isArray } = callsOf(body);
      if (!isArray) return echo(body, response, request);
      const items = calls.map(({ id, params }) => `{"jsonrpc":"2.0","id":${id},"result":"${params[0]}"}`);
      return spoil(calls, items);
    };
    const stubs = await Promise.all([0, 1].map(() => startStubValidator(t, { answer })));
    const { ask } = startPool(
      t,
      stubs.map(({ url }) => url),
    );
    t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
  });
}

t.test(
  "a call that spoils its array hurts itself only, and hears what a validator says to it alone",
  async (t) => {
    const isPoison = ({ params }: StubCall) => params[0] === "poison";
    const answer: StubAnswer = (body, response, request) => {
      const { calls, isArray } = callsOf(body);
      if (!calls.some(isPoison)) return echo(body, response, request);
      if (isArray) return arrayRefused;
      return `{"jsonrpc":"2.0","id":${calls[0]?.id},"error":{"code":-32602,"message":"Invalid params"}}`;
    };
    const stubs = await Promise.all([0, 1, 2].map(() => startStubValidator(t, { answer })));
    const { ask, pool } = startPool(
      t,
      stubs.map(({ url }) => url),
    );
    for (let round = 0; round < 10; round += 1) {
      const poisoned = ask("web3_sha3", ["poison"]);
      t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
      t.equal(await poisoned, '{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid params"}}');
    }
    t.ok(
      pool
        .status()
        .validators.every(({ breaker, lastTakenOut }) => breaker === "closed" && lastTakenOut === null),
      "and no validator is ejected for it",
    );
  },
);

t.test("what no validator can read is answered with their own error", async (t) => {
  const answer: StubAnswer = (body, response, request) => {
    const { calls } = callsOf(body);
    if (calls.every(({ params }) => params[0] !== "odd")) return echo(body, response, request);
    response.writeHead(400, { "Content-Type": "application/json" });
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}');
    return undefined;
  };
  const stubs = await Promise.all([0, 1, 2].map(() => startStubValidator(t, { answer })));
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  const odd = ask("web3_sha3", ["odd"]);
  t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
  t.equal(await odd, '{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"Parse error"}}');
});

t.test("a call that breaks every validator ends by itself, and is not asked for ever", async (t) => {
  const answer: StubAnswer = (body, response, request) => {
    const { calls } = callsOf(body);
    if (calls.every(({ params }) => params[0] !== "odd")) return echo(body, response, request);
    response.writeHead(500).end();
    return undefined;
  };
  const stubs = await Promise.all([0, 1, 2].map(() => startStubValidator(t, { answer })));
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  t.equal(await ask("web3_sha3", ["odd"]), "unavailable");
  const asked = stubs.flatMap(({ bodies }) => bodies).length;
  t.ok(asked <= 6, `${asked} times`);
  t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
});

t.test("a validator that refuses good arrays is ejected, one that meets a bad call is not", async (t) => {
  const refusing: StubAnswer = (body, response, request) =>
    callsOf(body).isArray ? arrayRefused : echo(body, response, request);
  const stubs = await Promise.all([refusing, echo, echo].map((answer) => startStubValidator(t, { answer })));
  const { ask, validator } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  for (let round = 0; round < 60 && validator(0).lastTakenOut === null; round += 1) {
    t.strictSame(await Promise.all(names.map((name) => ask("web3_sha3", [name]))), expected);
  }
  t.equal(validator(0).lastTakenOut?.reason, "array_refused");
  t.equal(validator(1).lastTakenOut, null);
});

t.test("a long answer in an array is asked for alone, so that it can be long", async (t) => {
  const long = "x".repeat(50_000);
  const stub = await startStubValidator(t, {
    answer: answering(({ params }) => (params[0] === "long" ? `"${long}"` : '"short"')),
  });
  const { ask } = startPool(t, [stub.url], {
    settings: { answerBytesMax: 60_000, streamFromBytes: 100_000 },
  });
  const answers = await Promise.all(
    ["long", "short", "long", "short"].map((name) => ask("web3_sha3", [name])),
  );
  t.strictSame(
    answers.map((text) => text.length),
    [50_036, 41, 50_036, 41],
  );
  t.ok(await waitFor("the validator has five requests", () => stub.bodies.length === 5));
});
