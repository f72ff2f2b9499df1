import t, { type Test } from "tap";
import { type StubAnswer, type StubValidator, startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callsOf, callTo, createGate, echo, startPool } from "./start-pool.ts";

/** Ends with a call whose first parameter says so: for good, after `afterMs`. */
function dyingOf(poison: string, afterMs: number): { answer: StubAnswer; stub: StubValidator | undefined } {
  const dying: { answer: StubAnswer; stub: StubValidator | undefined } = {
    stub: undefined,
    answer: async (body, response, request) => {
      if (!callsOf(body).calls.some(({ params }) => params[0] === poison))
        return echo(body, response, request);
      // A call works for a while before it ends its validator.
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await dying.stub?.stop();
      return undefined;
    },
  };
  return dying;
}

async function startDying(
  t: Test,
  { count = 5, afterMs = 0, settings = {} }: { count?: number; afterMs?: number; settings?: object } = {},
) {
  const stubs: StubValidator[] = [];
  for (let index = 0; index < count; index += 1) {
    const dying = dyingOf("poison", afterMs);
    dying.stub = await startStubValidator(t, { answer: dying.answer });
    stubs.push(dying.stub);
  }
  const urls = stubs.map(({ url }) => url);
  const struck = () => stubs.filter(({ bodies }) => bodies.some((body) => body.includes("poison"))).length;
  return { ...startPool(t, urls, { settings: { health: { sweepMs: 10 }, ...settings } }), stubs, struck };
}

t.test("a call of the slow lane whose validator ends is put to no other", async (t) => {
  const { ask, struck } = await startDying(t);
  t.equal(await ask("debug_traceTransaction", ["poison"]), "lost");
  t.equal(struck(), 1);
  t.match(
    await ask("debug_traceTransaction", ["sound"]),
    /sound/,
    "the next is answered by those that are left",
  );
});

t.test("a call of the slow lane is asked of one validator, however late it is", async (t) => {
  const gate = createGate(echo);
  const stubs = await Promise.all([0, 1].map(() => startStubValidator(t, { answer: gate.answer })));
  const urls = stubs.map(({ url }) => url);
  const { pool } = startPool(t, urls, { settings: { health: { sweepMs: 10 }, hedge: { afterMsMin: 1 } } });
  const traced = await pool.ask(callTo("debug_traceTransaction", ["x"], { timeoutMs: 400 }));
  t.equal(traced, "overdue");
  t.equal(stubs.flatMap(({ bodies }) => bodies).filter((body) => body.includes("trace")).length, 1);
  gate.open();
});

t.test("a validator that is ejected for its bad answers goes on with its trace", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, {
    answer: (body, response, request) => {
      if (body.includes("trace")) return gate.answer(body, response, request);
      response.writeHead(500).end();
      return undefined;
    },
  });
  const other = await startStubValidator(t, { answer: gate.answer });
  const { pool, validator } = startPool(t, [stub.url, other.url], { settings: { health: { sweepMs: 10 } } });
  const traced = pool.ask(callTo("debug_traceTransaction", ["x"]), { target: 0 });
  await waitFor("the validator has a request", () => stub.bodies.length > 0);
  other.answerWith(echo);
  for (let round = 0; validator(0).breaker === "closed" && round < 100; round += 1) {
    await pool.ask(callTo("web3_sha3", ["x"]));
  }
  t.equal(validator(0).breaker, "open");
  gate.open();
  const answer = await traced;
  t.ok(typeof answer !== "string", "its answer is taken all the same");
});

t.test("a call that ran the EVM for long when its validator ended is put to no other", async (t) => {
  const { ask, struck } = await startDying(t, { afterMs: 150, settings: { runMsMax: 100 } });
  t.equal(await ask("eth_call", ["poison", "0x1"]), "lost");
  t.equal(struck(), 1);
});

t.test(
  "neither is it asked of a second one because it is late, as long as its validator answers",
  async (t) => {
    const { pool, struck } = await startDying(t, {
      afterMs: 400,
      settings: { runMsMax: 100, hedge: { afterMsMin: 20 } },
    });
    t.equal(await pool.ask(callTo("eth_call", ["poison", "0x1"], { timeoutMs: 1200 })), "lost");
    t.equal(struck(), 1);
  },
);

t.test("one that ended its validator at once is asked once more, and of no third", async (t) => {
  const { ask, struck } = await startDying(t);
  t.equal(await ask("eth_call", ["poison", "0x1"]), "lost");
  t.equal(struck(), 2);
});

t.test("its neighbours are answered, whether before it or behind it", async (t) => {
  const { ask, struck } = await startDying(t);
  const names = ["a", "b", "c", "poison", "d", "e", "f", "g"];
  const answers = await Promise.all(names.map((name) => ask("eth_call", [name, "0x1"])));
  t.strictSame(
    answers,
    names.map((name) => (name === "poison" ? "lost" : `{"jsonrpc":"2.0","id":7,"result":"${name}"}`)),
  );
  t.equal(struck(), 2);
});

t.test("a light call is asked of all, however many end with it", async (t) => {
  const { ask, stubs } = await startDying(t, { count: 3 });
  for (const stub of stubs.slice(0, 2)) await stub.stop();
  for (let round = 0; round < 5; round += 1) t.match(await ask("web3_sha3", ["x"]), /result/);
});

t.test("quick calls in flight at a validator that ends are answered by others", async (t) => {
  const gate = createGate(echo);
  const first = await startStubValidator(t, { answer: gate.answer });
  const second = await startStubValidator(t, { answer: echo });
  const { pool } = startPool(t, [first.url, second.url], { settings: { arrays: { call: 1 } } });
  const asks: Promise<unknown>[] = [];
  await waitFor("three calls are in flight at the first validator", () => {
    if (first.bodies.length >= 3) return true;
    asks.push(pool.ask(callTo("eth_call", [String(asks.length), "0x1"])));
    return false;
  });
  await first.stop();
  const answers = await Promise.all(asks);
  t.same(
    answers.filter((answer) => typeof answer === "string"),
    [],
  );
});

t.test("what a proxy says of a validator that has gone counts as its end", async (t) => {
  const gone: StubAnswer = (_body, response) => {
    response.writeHead(502).end("Bad Gateway");
    return undefined;
  };
  const stubs = await Promise.all([0, 1, 2].map(() => startStubValidator(t, { answer: gone })));
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  t.equal(await ask("debug_traceTransaction", ["x"]), "lost");
  t.equal(stubs.flatMap(({ bodies }) => bodies).filter((body) => body.includes("trace")).length, 1);
});
