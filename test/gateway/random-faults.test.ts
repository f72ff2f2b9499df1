import t from "tap";
import { runRandomFaults } from "../soak/random-faults.ts";

/** `npm run soak` goes on for as long as one likes. */
const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
const durationMs = 2500;

for (const seed of seeds) {
  t.test(`seed ${seed}: random faults cost no read, no nonce and no step back`, async (t) => {
    const { broken, faults, reads, sends } = await runRandomFaults(t, { seed, durationMs });
    t.same(broken, [], `after ${faults.join(", ")}`);
    t.equal(sends, 50);
    t.ok(reads > 100, `${reads} reads`);
  });
}
