import t from "tap";
import { startValidators } from "../../../fakes/validators/start-validators.ts";
import { startPool } from "./start-pool.ts";
import { costOf, steadyLoad } from "./steady-load.ts";

/**
 * FAULTS=full is what is promised: 500 calls a second for 12 s. Without it these tests, which share their processors with
 * others, take half the rate and a third of the time.
 */
const isFull = process.env["FAULTS"] === "full";
const callsPerSecond = isFull ? 500 : 250;
const durationMs = isFull ? 12_000 : 3500;
const faultAtMs = 500;

const cluster = await startValidators(t);
await cluster.mine(3);
const struck = cluster.validator(2);
const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const balance = '{"jsonrpc":"2.0","id":7,"result":"0xd3c21bcecceda1000000"}';

const faults: Record<string, () => void | Promise<void>> = {
  dies: struck.die,
  hangs: struck.hang,
  "answers slowly": () => struck.slow(1500),
  "is slow with one method": () => struck.latency("eth_getBalance", 1500),
  "answers garbage": () => struck.garbage(),
  "answers half of a JSON text": () => struck.garbage("halfJson"),
  "answers nothing": () => struck.garbage("empty"),
  "answers 502": () => struck.status(502),
  "cuts its bodies": () => struck.cutBody("length"),
  "cuts its chunks": () => struck.cutBody("chunked"),
  "stops in the middle of its bodies": () => struck.cutBody("stalled"),
  "answers with wrong ids": struck.wrongIds,
  "leaves an answer out": struck.missingId,
  "answers in reverse": struck.reorder,
  "refuses arrays": struck.arrayAsErrorObject,
};

for (const [what, begin] of Object.entries(faults)) {
  t.test(`a validator that ${what} costs no read`, async (t) => {
    const { ask, validator } = startPool(t, cluster.urls);
    const read = (index: number) =>
      index % 5 === 0 ? ask("eth_call", [{}, "0x1"]) : ask("eth_getBalance", [address, "0x1"]);
    const load = steadyLoad({ ask: read, callsPerSecond, durationMs });
    // The load goes on for a while before it, and its answers are judged by when they began.
    setTimeout(begin, faultAtMs);
    const asked = await load;
    t.match(costOf(asked, { faultAtMs }), { failed: 0, late: 0 });
    t.ok(asked.every(({ text }) => text === balance || text.includes('"result":"0x"')));

    await struck.heal();
    const before = validator(2).calls;
    const isBack = () => validator(2).breaker === "closed" && validator(2).calls > before + 20;
    const after = await steadyLoad({ ask: read, callsPerSecond, durationMs: 5000, isOver: isBack });
    t.ok(isBack(), "within 5 s it is in use again");
    t.match(costOf(after, { faultAtMs: 0 }), { failed: 0 });
  });
}
