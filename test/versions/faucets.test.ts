import t from "tap";
import { runFaucetCrashes } from "../../scripts/soak/faucet-crashes/run-faucet-crashes.ts";
import { previousVersion } from "./previous-version.ts";

t.setTimeout(600_000);

t.test(
  "a faucet of the version before and one of this, killed, cut and stalled: each accepted claim is paid exactly once, and counts once",
  async (t) => {
    const before = await previousVersion(t);
    if (before === undefined) return;
    const main = "scripts/soak/faucet-crashes/crash-main.ts";
    const programs = [before.file(main), new URL(`../../${main}`, import.meta.url)];
    for (const [seed, order] of [
      [101, programs],
      [102, programs.toReversed()],
    ] as const) {
      const { faults, broken, points } = await runFaucetCrashes(t, { seed, claims: 30, programs: order });
      t.same(broken, [], `seed ${seed}: ${faults.join(", ")}`);
      t.ok(points.size > 0, `killed ${[...points].join(", ")}`);
    }
  },
);
