import t from "tap";
import { runFollowerSeeds } from "../../../scripts/soak/follower-crashes/run-follower-seeds.ts";

const seeds = process.env["CI"] === undefined ? 3 : 20;

t.setTimeout(900_000);

t.test(
  "kill -9 of followers and PostgreSQL, cuts and a chain that is taken back: every row equals a fresh backfill",
  async (t) => {
    await runFollowerSeeds(t, {
      seeds,
      first: 6,
      onFindings({ seed, blocks, faults, broken, tookMs }) {
        const done = faults.map(({ what, point, nth }) => `${what} ${point} ${nth}`).join(", ");
        t.same(broken, [], `seed ${seed}, ${blocks} blocks, ${Math.round(tookMs)} ms: ${done}`);
        t.ok(faults.length > 1);
      },
    });
  },
);
