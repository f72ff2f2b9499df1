import t from "tap";
import { startValidators } from "../../../fakes/validators/start-validators.ts";
import { startStopwatch } from "../../../helpers/stopwatch.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { anyHead, startPool } from "./start-pool.ts";
import { costOf, steadyLoad } from "./steady-load.ts";

const callsPerSecond = 200;
const faultAtMs = 400;
const cluster = await startValidators(t);
await cluster.mine(3);
const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const read = ["eth_getBalance", [address, "0x1"]] as const;

for (const [count, fault] of [
  [2, "hang"],
  [4, "hang"],
  [4, "die"],
  [4, "status"],
] as const) {
  t.test(`${count} of five that ${fault} at once cost no read`, async (t) => {
    const { ask, pool } = startPool(t, cluster.urls);
    const struck = cluster.validators.slice(0, count);
    const load = steadyLoad({ ask: () => ask(...read), callsPerSecond, durationMs: 3500 });
    // The load goes on for a while before it, and its answers are judged by when they began.
    setTimeout(
      () => struck.map((validator) => (fault === "status" ? validator.status(502) : validator[fault]())),
      faultAtMs,
    );
    t.match(costOf(await load, { faultAtMs }), { failed: 0, late: 0 });
    t.strictSame(
      pool.status().validators.map(({ breaker }) => breaker === "open"),
      [0, 1, 2, 3, 4].map((index) => index < count),
    );
    await cluster.healAll();
    const isBack = () => pool.status().validators.every(({ breaker }) => breaker === "closed");
    const after = await steadyLoad({
      ask: () => ask(...read),
      callsPerSecond,
      durationMs: 5000,
      isOver: isBack,
    });
    t.ok(isBack(), "within 5 s all are in use again");
    t.match(costOf(after, { faultAtMs: 0 }), { failed: 0 });
  });
}

t.test(
  "with nobody there a call fails at once, is put to each, and the first who comes back answers",
  async (t) => {
    const { ask, pool } = startPool(t, cluster.urls);
    await ask(...read);
    await Promise.all(cluster.validators.map((validator) => validator.die()));
    for (let round = 0; round < 3; round += 1) {
      const stopwatch = startStopwatch();
      t.equal(await ask(...read), "unavailable");
      t.ok(stopwatch.elapsedMs() < 1000, "long before its deadline");
    }
    t.equal(pool.isAnswering(), false);
    t.ok(
      pool.status().validators.some(({ breaker }) => breaker === "closed"),
      "the last is never ejected",
    );

    const one = cluster.validator(3);
    await one.comeBack();
    const stopwatch = startStopwatch();
    t.match(await ask(...read), /0xd3c21bcecceda1000000/, "a call alone finds it");
    t.ok(stopwatch.elapsedMs() < 1000);
    await cluster.healAll();
    const isBack = () => pool.status().validators.every(({ breaker }) => breaker === "closed");
    const after = await steadyLoad({
      ask: () => ask(...read),
      callsPerSecond,
      durationMs: 5000,
      isOver: isBack,
    });
    t.ok(isBack());
    t.match(costOf(after, { faultAtMs: 0 }), { failed: 0 });
    t.equal(pool.isAnswering(), true);
  },
);

t.test(
  "with all hung a call ends at its deadline, and those that still wait are answered when they are back",
  async (t) => {
    const { ask, pool } = startPool(t, cluster.urls, {
      settings: { queueMax: { light: 40 }, arrays: { light: 1 } },
    });
    await ask(...read);
    for (const validator of cluster.validators) validator.hang();
    const waiting = Array.from({ length: 30 }, () => ask(...read));
    await waitFor(
      "all are suspects, and every place is taken",
      () =>
        !pool.isAnswering() &&
        pool.status().validators.every(({ lanes: { light } }) => light?.inFlight === light?.max),
    );
    const more = Array.from({ length: 60 }, () => ask(...read));
    t.ok((await Promise.race(more)) === "unavailable", "more than can wait is refused");
    await cluster.healAll();
    const stopwatch = startStopwatch();
    t.ok((await Promise.all(waiting)).every((text) => text.includes("0xd3c21bcecceda1000000")));
    t.ok(stopwatch.elapsedMs() < 3000);
    const refused = (await Promise.all(more)).filter((text) => text === "unavailable");
    t.ok(refused.length > 0 && refused.length < 60, `${refused.length} of 60 refused`);
    t.ok(await waitFor("the pool answers again", () => pool.isAnswering(), { withinMs: 3000 }));
  },
);

t.test(
  "the read goes to who has the announced block; to others only while nobody has it; never to another chain",
  async (t) => {
    let eligible = ["1"];
    let ours = ["0", "1", "2"];
    const head = {
      ...anyHead,
      isEligible: (label: string) => eligible.includes(label),
      heightOf: (label: string) => (ours.includes(label) ? 5n : undefined),
    };
    const { ask, pool } = startPool(t, cluster.urls, { head });
    const asked = async () => {
      const before = pool.status().validators.map(({ calls }) => calls);
      for (let round = 0; round < 20; round += 1) t.match(await ask(...read), /result/);
      return pool.status().validators.map(({ calls }, index) => calls > (before[index] ?? 0));
    };
    t.strictSame(await asked(), [false, true, false, false, false]);
    eligible = [];
    t.strictSame((await asked()).slice(3), [false, false], "reads go on in a stall, on our chain");
    ours = [];
    t.equal(await ask(...read), "unavailable");
  },
);
