import t from "tap";
import { runRandomFaults } from "../../scripts/soak/random-faults/run-random-faults.ts";

/** `npm run soak` goes on for as long as one likes. */
const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
const durationMs = 2500;
let hitsOfAll = 0;

for (const seed of seeds) {
  t.test(
    `seed ${seed}: random faults cost no read, no nonce and no step back, and memory stays true`,
    async (t) => {
      const { broken, faults, reads, sends, hits } = await runRandomFaults(t, { seed, durationMs });
      t.same(broken, [], `after ${faults.join(", ")}`);
      t.equal(sends, 50);
      // How many these are says how busy the machine is.
      t.ok(reads > 20, `${reads} reads`);
      hitsOfAll += hits;
    },
  );
}

t.test("memory answered in between, and each of its answers was compared", async (t) => {
  t.ok(hitsOfAll > 1000, `${hitsOfAll} answers from memory`);
});
