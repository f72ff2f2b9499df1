import t from "tap";
import { runCrashSeeds } from "../../scripts/soak/faucet-crashes/run-crash-seeds.ts";
import { crashPoints } from "../../scripts/soak/faucet-crashes/run-faucet-crashes.ts";
import { soakSeeds } from "../../scripts/soak/seeds.ts";

const seeds = soakSeeds();

t.setTimeout(600_000);

t.test(
  "kill -9, cuts, outages and stalls, anywhere, with and without a gateway: each accepted claim is paid exactly once, and counts once",
  async (t) => {
    const points = new Set<string>();
    await runCrashSeeds({
      seeds,
      atOnce: 2,
      onFindings(findings) {
        const { seed, faults, broken, tookMs } = findings;
        for (const point of findings.points) points.add(point);
        t.same(broken, [], `seed ${seed}, ${Math.round(tookMs)} ms: ${faults.join(", ")}`);
      },
    });
    if (seeds.length < crashPoints.length) t.ok(points.size > 0, `killed ${[...points].join(", ")}`);
    else t.same([...points].sort(), [...crashPoints].sort(), "faucets were killed at every named point");
  },
);
