import t from "tap";
import { soakSeeds } from "../../../scripts/soak/seeds.ts";
import { runSubscribers } from "../../../scripts/soak/subscribers/run-subscribers.ts";

for (const seed of soakSeeds()) {
  t.test(
    `seed ${seed}: every block and log exactly once and in order, through faults and restarts`,
    async (t) => {
      const { broken, faults, restarts, heads, logs, polled, connections } = await runSubscribers(t, {
        seed,
      });
      t.comment(JSON.stringify({ faults: faults.length, restarts, connections, heads, logs, polled }));
      t.same(broken, [], `after ${faults.join(", ")}`);
      t.equal(restarts, 2);
      t.ok(connections > 50, `${connections} connections`);
      t.ok(heads > 300 && logs > 150 && polled > 15, `${heads} heads, ${logs} logs, ${polled} polled`);
    },
  );
}
