import t, { type Test } from "tap";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { startValidators } from "../../../fakes/validators/start-validators.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callsOf, createGate, startPool } from "./start-pool.ts";

const internal = '{"code":-32603,"message":"Internal error"}';
const account = `0x${"11".repeat(20)}`;
const estimate = [{ from: account, to: account }];

/** Validators that answer each call with an internal error, or with a result where `answers` names them. */
async function startMany(
  t: Test,
  {
    count = 3,
    answers = [],
    runMsMax = 60_000,
  }: { count?: number; answers?: number[]; runMsMax?: number } = {},
) {
  const gate = createGate((body) => {
    const { calls, isArray } = callsOf(body);
    const texts = calls.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"error":${internal}}`);
    return isArray ? `[${texts.join(",")}]` : texts.join("");
  });
  gate.open();
  const good = (body: string) => {
    const { calls, isArray } = callsOf(body);
    const texts = calls.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"0x5208"}`);
    return isArray ? `[${texts.join(",")}]` : texts.join("");
  };
  const stubs = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startStubValidator(t, { answer: answers.includes(index) ? good : gate.answer }),
    ),
  );
  const pool = startPool(
    t,
    stubs.map(({ url }) => url),
    { settings: { runMsMax, health: { suspectAfterMs: 10_000 }, hedge: { shareMax: 0, burst: 0 } } },
  );
  const received = (method: string) =>
    stubs
      .flatMap(({ bodies }) => bodies.flatMap((body) => callsOf(body).calls))
      .filter((call) => call.method === method).length;
  return { ...pool, stubs, gate, received };
}

t.test("an estimate that meets the import of a block at one validator is answered by another", async (t) => {
  const cluster = await startValidators(t, { count: 3 });
  cluster.validator(0).raceAtImport();
  const { result, validator } = startPool(t, cluster.urls);
  for (let block = 0; block < 60 && validator(0).failovers["internal_error"] === undefined; block += 1) {
    await cluster.mine(1);
    for (let call = 0; call < 6; call += 1) t.equal(await result("eth_estimateGas", estimate), "0x5208");
  }
  t.ok(validator(0).failovers["internal_error"], "it did happen");
  t.equal(validator(0).breaker, "closed", "and is no fault that takes it out");
});

for (const method of ["eth_estimateGas", "eth_getBalance"]) {
  t.test(`where two say so it is the answer, and no third is asked: ${method}`, async (t) => {
    const { ask, received, stubs } = await startMany(t);
    t.equal(
      await ask(method, method === "eth_estimateGas" ? estimate : [account, "latest"]),
      `{"jsonrpc":"2.0","id":7,"error":${internal}}`,
    );
    t.equal(received(method), 2);
    t.equal(stubs.filter(({ bodies }) => bodies.length > 0).length, 2, "of two different ones");
  });
}

t.test("many at once get their answers from the one that has them, or the second word", async (t) => {
  const { ask, received } = await startMany(t, { count: 2, answers: [1] });
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask("eth_estimateGas", estimate)));
  t.ok(answers.every((text) => text === '{"jsonrpc":"2.0","id":7,"result":"0x5208"}'));
  t.ok(received("eth_estimateGas") <= 200, "each is asked twice at most");
});

t.test("a lone validator's word is the answer", async (t) => {
  const { ask, received } = await startMany(t, { count: 1 });
  t.match(await ask("eth_estimateGas", estimate), internal);
  t.equal(received("eth_estimateGas"), 1);
});

t.test(
  "a call that ran for long, one of the slow lane and a transaction are put to nobody else",
  async (t) => {
    const { pool, ask, gate, received } = await startMany(t, { runMsMax: 10 });
    for (const method of ["eth_getLogs", "debug_traceTransaction"]) {
      t.match(
        await ask(
          method,
          method === "eth_getLogs" ? [{ fromBlock: "0x1", toBlock: "0x200" }] : [`0x${"ab".repeat(32)}`],
        ),
        internal,
      );
    }
    t.equal(received("debug_traceTransaction"), 1);
    t.match(await ask("eth_sendRawTransaction", ["0x00"]), internal);
    t.equal(received("eth_sendRawTransaction"), 1);
    t.ok(pool.isAnswering());
    gate.close();
    const long = ask("eth_estimateGas", estimate);
    const askedAtMs = performance.now();
    await waitFor(
      "the validator was asked, and 20 ms have passed",
      () => received("eth_estimateGas") === 1 && performance.now() > askedAtMs + 20,
    );
    gate.open();
    t.match(await long, internal);
    t.equal(received("eth_estimateGas"), 1, "it may be what a validator suffers from");
  },
);

t.test(
  "one that ends the second validator is put to no third, and is told as one that does so",
  async (t) => {
    const { ask, stubs, received } = await startMany(t);
    let answered = 0;
    for (const stub of stubs) {
      stub.answerWith((body, response) => {
        const { calls } = callsOf(body);
        const [call] = calls;
        if (call?.method === "eth_chainId") return `{"jsonrpc":"2.0","id":${call.id},"result":"0x228d"}`;
        answered += 1;
        if (answered === 1) return `{"jsonrpc":"2.0","id":${call?.id},"error":${internal}}`;
        response.destroy();
        return undefined;
      });
    }
    t.equal(await ask("eth_estimateGas", estimate), "lost");
    t.equal(received("eth_estimateGas"), 2);
  },
);
