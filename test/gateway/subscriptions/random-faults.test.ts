import t from "tap";
import { runSubscribers } from "../../../scripts/soak/subscribers/run-subscribers.ts";

/** Longer with `npm run soak`. */
const durationMs = 7000;

for (const seed of [1, 2]) {
  t.test(
    `seed ${seed}: every block and log exactly once and in order, through faults and restarts`,
    async (t) => {
      const { broken, faults, restarts, heads, logs, polled, connections } = await runSubscribers(t, {
        seed,
        durationMs,
      });
      t.comment(JSON.stringify({ faults: faults.length, restarts, connections, heads, logs, polled }));
      t.same(broken, [], `after ${faults.join(", ")}`);
      t.ok(faults.length > 3, `${faults.length} faults`);
      t.ok(restarts > 0, `${restarts} restarts`);
      t.ok(connections > 50, `${connections} connections`);
      t.ok(heads > 300 && logs > 150 && polled > 15, `${heads} heads, ${logs} logs, ${polled} polled`);
    },
  );
}
