import { register } from "prom-client";
import t from "tap";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callTo, createGate, echo, startPool } from "./start-pool.ts";

t.test("status and metrics show how each validator is used and why it was last ejected", async (t) => {
  const gate = createGate(echo);
  const stubs = [
    await startStubValidator(t, { answer: gate.answer }),
    await startStubValidator(t, { answer: gate.answer }),
  ];
  const { ask, pool, registry, validator } = startPool(
    t,
    stubs.map(({ url }) => url),
    {
      settings: {
        connections: { light: 1 },
        hedge: { shareMax: 0, burst: 0 },
        health: { suspectAfterMs: 5000 },
      },
    },
  );
  const asks = Array.from({ length: 200 }, () => ask("web3_sha3", ["x"]));
  await waitFor("each validator has a request", () => stubs.every(({ bodies }) => bodies.length === 1));
  t.strictSame(pool.status().lanes["light"]?.waiting, 72, "two arrays of 64 are on their way");
  t.match(await registry.metrics(), /tollgate_gateway_queue_calls\{lane="light"\} 72/);
  t.match(await registry.metrics(), /tollgate_gateway_validator_in_flight\{validator="1",lane="light"\} 1/);
  gate.open();
  await Promise.all(asks);

  const sums = (pick: (index: number) => number) => pick(0) + pick(1);
  t.equal(
    sums((index) => validator(index).calls),
    200,
  );
  t.equal(
    sums((index) => validator(index).requests),
    4,
  );
  t.equal(
    sums((index) => validator(index).arrayLengths["64"] ?? 0),
    3,
  );
  t.equal(
    sums((index) => validator(index).arrayLengths["8"] ?? 0),
    1,
  );
  t.equal(Math.max(validator(0).longestArray, validator(1).longestArray), 64);
  t.ok(sums((index) => validator(index).lanes["light"]?.p95Ms ?? 0) > 0);

  await stubs[1]?.stop();
  await waitFor("the validator that has ended is taken out", async () => {
    if (validator(1).lastTakenOut !== null) return true;
    t.match(await ask("web3_sha3", ["x"]), /result/);
    return false;
  });
  const { breaker, lastTakenOut } = validator(1);
  t.equal(breaker, "open");
  t.ok(Math.abs(Date.parse(lastTakenOut?.at ?? "") - Date.now()) < 2000, "told in the time of the wall");
  const text = await registry.metrics();
  t.match(text, /tollgate_gateway_validator_in_use\{validator="0"\} 1\n/);
  t.match(text, /tollgate_gateway_validator_in_use\{validator="1"\} 0\n/);
  t.match(text, new RegExp(`taken_out_total\\{validator="1",reason="${lastTakenOut?.reason}"\\} 1\n`));
  t.match(text, new RegExp(`failures_total\\{validator="1",reason="${lastTakenOut?.reason}"\\} [1-9]`));
  t.match(
    text,
    /tollgate_gateway_validator_requests_total\{validator="[01]",lane="light",calls="64"\} [12]\n/,
  );
  t.match(text, /tollgate_gateway_validator_latency_seconds\{validator="0",lane="light",stat="p95"\} 0\.\d+/);
  t.equal(await register.metrics(), "\n", "on the process's registry and no other");
});

t.test("what waits when the pool is stopped is answered, and nothing is taken any more", async (t) => {
  const stub = await startStubValidator(t, { answer: () => new Promise(() => {}) });
  const { ask, pool } = startPool(t, [stub.url], { settings: { connections: { light: 1 } } });
  const inFlight = ask("web3_sha3", ["x"]);
  await waitFor("the validator has one request", () => stub.bodies.length === 1);
  const waiting = ask("web3_sha3", ["x"]);
  const sending = pool.ask(callTo("eth_sendRawTransaction", ["0x1234"]));
  await new Promise((resolve) => setImmediate(resolve));
  await pool.stop();
  t.strictSame(await Promise.all([inFlight, waiting, sending]), ["unavailable", "unavailable", "unsent"]);
  t.equal(await ask("web3_sha3", ["x"]), "unavailable");
});
