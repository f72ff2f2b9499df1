import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callsOf, callTo, echo, startPool } from "./start-pool.ts";

/** Answers everything but the calls that are asked here, for as long as it is stuck. */
function createStuck() {
  let stuck = true;
  const held: (() => void)[] = [];
  const answer: StubAnswer = async (body, response, request) => {
    const isAsked = callsOf(body).calls.some(({ method }) => method !== "eth_chainId");
    if (stuck && isAsked) await new Promise<void>((resolve) => held.push(resolve));
    return echo(body, response, request);
  };
  return {
    answer,
    isHolding: () => held.length > 0,
    release() {
      stuck = false;
      for (const resolve of held.splice(0)) resolve();
    },
  };
}

/** A pool over one validator that is stuck and one that is not. */
async function startPair(t: Parameters<typeof startPool>[0], settings: Parameters<typeof startPool>[2]) {
  const stuck = createStuck();
  const stubs = [
    await startStubValidator(t, { answer: stuck.answer }),
    await startStubValidator(t, { answer: echo }),
  ];
  const started = startPool(
    t,
    stubs.map(({ url }) => url),
    settings,
  );
  return { ...started, stuck };
}

const noHedges = { hedge: { shareMax: 0, burst: 0 } };
/** Nobody is passed over for being silent or slow: only the way that a test is about is left. */
const neverPassedOver = { health: { suspectAfterMs: 10_000, slowMsMin: 60_000, sweepMs: 10 } };

t.test("a late call is asked of a second validator, and the first answer is taken", async (t) => {
  // On a busy machine the silent one would be pinged, and that counts among its calls.
  const settings = { hedge: { afterMsMin: 60 }, health: { sweepMs: 10, suspectAfterMs: 10_000 } };
  const { ask, stuck, validator } = await startPair(t, { settings });
  let tookMs = 0;
  while (!stuck.isHolding()) {
    const began = performance.now();
    t.equal(await ask("web3_sha3", ["x"]), '{"jsonrpc":"2.0","id":7,"result":"x"}');
    tookMs = performance.now() - began;
  }
  // On a busy machine the time says nothing; that the call was asked twice does.
  t.ok(tookMs >= 60, `${tookMs} ms`);
  t.equal(validator(0).hedges, 1);
  t.equal(validator(0).lanes["light"]?.inFlight, 1, "the validator still works on it");
  stuck.release();
  t.ok(await waitFor("no light calls in flight", () => validator(0).lanes["light"]?.inFlight === 0));
});

t.test("no more calls are asked twice than allowed", async (t) => {
  const settings = { ...neverPassedOver, hedge: { afterMsMin: 30, burst: 3, shareMax: 0 } };
  const { pool, stuck, validator } = await startPair(t, { settings });
  const asks: Promise<unknown>[] = [];
  await waitFor("an array of ten is stuck", () => {
    if (stuck.isHolding()) return true;
    for (let count = 0; count < 10; count += 1) {
      asks.push(pool.ask(callTo("web3_sha3", ["x"], { timeoutMs: 5000 })));
    }
    return false;
  });
  // Ten times the shortest wait before a call is asked twice: all that may be have been.
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(validator(0).hedges, 3);
  stuck.release();
  t.notOk((await Promise.all(asks)).includes("unavailable"));
});

t.test("a call that is very late is moved, whatever the allowance", async (t) => {
  const { pool, stuck, validator } = await startPair(t, { settings: { ...neverPassedOver, ...noHedges } });
  let tookMs = 0;
  while (!stuck.isHolding()) {
    const began = performance.now();
    t.not(await pool.ask(callTo("web3_sha3", ["x"], { timeoutMs: 800 })), "unavailable");
    tookMs = performance.now() - began;
  }
  t.ok(tookMs >= 190 && tookMs < 500, `${tookMs} ms`);
  t.equal(validator(0).hedges, 0);
  t.strictSame(validator(0).failovers, { late: 1 });
});

t.test("a request that was given up keeps its place until it is answered, or its time is over", async (t) => {
  const settings = { ...neverPassedOver, ...noHedges, connections: { light: 1 } };
  const { pool, stuck, validator } = await startPair(t, { settings });
  while (!stuck.isHolding()) await pool.ask(callTo("web3_sha3", ["x"], { timeoutMs: 800 }));
  t.equal(validator(0).lanes["light"]?.inFlight, 1);
  const { requests } = validator(0);
  for (let round = 0; round < 20; round += 1) await pool.ask(callTo("web3_sha3", ["y"], { timeoutMs: 800 }));
  t.equal(validator(0).requests, requests, "nothing more is put to it meanwhile");
  t.ok(
    await waitFor("after 800 ms it is free", () => validator(0).lanes["light"]?.inFlight === 0, {
      withinMs: 1500,
    }),
    "after 800 ms it is free",
  );
});

t.test("with one validator alone a late call waits for it, to its deadline and no longer", async (t) => {
  const stuck = createStuck();
  const stub = await startStubValidator(t, { answer: stuck.answer });
  const { pool, validator } = startPool(t, [stub.url], { settings: { health: { sweepMs: 10 } } });
  const began = performance.now();
  t.equal(await pool.ask(callTo("web3_sha3", ["x"], { timeoutMs: 300 })), "unavailable");
  const tookMs = performance.now() - began;
  t.ok(tookMs >= 295 && tookMs < 600, `${tookMs} ms`);
  t.equal(validator(0).breaker, "closed");
  t.equal(validator(0).failovers["timeout"], 1);
  stuck.release();
  t.not(await pool.ask(callTo("web3_sha3", ["x"], { timeoutMs: 300 })), "unavailable");
});

t.test("a slow call delays no other validator's calls, and takes nobody out", async (t) => {
  const { pool, ask, validator, stuck } = await startPair(t, {
    settings: { health: { sweepMs: 10, suspectAfterMs: 50 } },
  });
  const slow = pool.ask(callTo("debug_traceTransaction", ["0x1"]));
  await waitFor(
    "no slow calls in flight",
    () => validator(0).lanes["slow"]?.inFlight === 1 || validator(1).lanes["slow"]?.inFlight === 0,
  );
  for (let round = 0; round < 10; round += 1) {
    // Over 300 ms, six times what makes a validator a suspect.
    await new Promise((resolve) => setTimeout(resolve, 30));
    t.match(await ask("eth_chainId"), /result/);
  }
  t.strictSame([validator(0).breaker, validator(1).breaker], ["closed", "closed"], "it answers its pings");
  t.strictSame([validator(0).lastTakenOut, validator(1).lastTakenOut], [null, null]);
  stuck.release();
  t.not(await slow, "unavailable");
});
