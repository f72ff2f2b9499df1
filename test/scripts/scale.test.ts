import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import { readNetworkConfig } from "../../genesis/config.ts";
import { readMeasured } from "../../scripts/bench/scale/measured.ts";
import { leaseScripts, plan, rates, subscribersOf } from "../../scripts/bench/scale/model.ts";
import { simulateLeases } from "../../scripts/bench/scale/simulate-leases.ts";
import { bounds } from "../../scripts/bench/scale/tables.ts";
import { regenerate } from "../../scripts/docs/generated.ts";
import "../helpers/property-seed.ts";

const measured = readMeasured();
const scriptsOfBusyKey = measured.leaseScripts.one;
const load = fc.record({
  calls: fc.integer({ min: 1, max: 1_000_000 }),
  keys: fc.integer({ min: 1, max: 2000 }),
});
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

t.test("the tables of docs/scale.md are what the program says (else: npm run docs)", async (t) => {
  const text = read("docs/scale.md");
  t.equal(regenerate(text), text);
});

t.test("the bounds that are told of are those of the code", async (t) => {
  const { nodes } = { nodes: readNetworkConfig({ file: "config/network.yaml", env: {} }) };
  t.match(JSON.stringify(nodes), `"webSocketConnectionsMax":${bounds.webSocketConnectionsMax}`);
  t.match(read("gateway/auth/known-keys.ts"), /const keysMax = 20_000;/);
  t.equal(bounds.knownKeysMax, 20_000);
  t.match(
    read("gateway/upstream/pool/create-validators.ts"),
    `const validatorsMax = ${bounds.upstreamsMax};`,
  );
});

t.test("calls are spread over keys without one being lost", async (t) => {
  fc.assert(
    fc.property(load, fc.double({ min: 0, max: 2, noNaN: true }), ({ calls, keys }, skew) => {
      const spread = rates({ calls, keys, skew });
      const sum = spread.reduce((total, rate) => total + rate, 0);
      return (
        Math.abs(sum - calls) < calls * 1e-9 &&
        spread.every((rate, index) => index === 0 || rate <= (spread[index - 1] ?? 0))
      );
    }),
  );
  t.pass();
});

t.test(
  "leases never cost more scripts than calls, and more calls, keys or processes never fewer",
  async (t) => {
    fc.assert(
      fc.property(load, fc.integer({ min: 1, max: 64 }), ({ calls, keys }, processes) => {
        const of = (more: Partial<Parameters<typeof leaseScripts>[0]>) =>
          leaseScripts({ calls, keys, processes, scriptsOfBusyKey, ...more });
        const scripts = of({});
        const slack = 1 + 1e-9;
        return (
          scripts <= calls * slack &&
          scripts <= keys * processes * scriptsOfBusyKey * slack &&
          scripts <= of({ calls: calls * 2 }) * slack &&
          scripts <= of({ processes: processes + 1 }) * slack &&
          scripts <= of({ keys: keys + 100 }) * slack &&
          of({ processesOfKey: 2 }) <= scripts * slack
        );
      }),
    );
    t.pass();
  },
);

t.test("a plan grows with its load, and one core is what was measured of it", async (t) => {
  const one = plan(measured, { calls: Math.floor(measured.gateway.mixedCalls * 0.6), keys: 10 });
  t.equal(one.gatewayProcesses, 1);
  let before = one;
  for (const calls of [10_000, 100_000, 1_000_000].map((each) => each + one.calls)) {
    const next = plan(measured, { calls, keys: 10_000 });
    for (const name of ["gatewayProcesses", "machines", "leaseScripts", "redisCores", "nodes"] as const) {
      t.ok(next[name] >= before[name], `${name} of ${calls}`);
    }
    t.ok(next.redisCoresSticky <= next.redisCores);
    before = next;
  }
  t.equal(subscribersOf(measured, 1), Math.floor(2e6 / measured.webSocket.notificationMicros));
});

t.test(
  "the simulation pays each call once, is the same for one seed, and is what Redis counted of one and two",
  async (t) => {
    const run = (processes: number, seed = 1) =>
      simulateLeases({ callsPerSecond: 2000, processes, seconds: 5, seed });
    t.same(run(3), run(3));
    t.notSame(run(3), run(3, 2));
    for (const [processes, counted] of [
      [1, measured.leaseScripts.one],
      [2, measured.leaseScripts.two],
    ] as const) {
      const { calls, paid, scripts } = run(processes);
      t.ok(calls - paid < 100, `${calls - paid} of ${calls} wait for a grant at the end`);
      t.ok(Math.abs(scripts / 5 / counted - 1) < 0.25, `${scripts / 5} beside ${counted}`);
    }
  },
);
