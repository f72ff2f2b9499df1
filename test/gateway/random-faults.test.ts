import t from "tap";
import { runRandomFaults } from "../../scripts/soak/random-faults/run-random-faults.ts";
import { soakSeeds } from "../../scripts/soak/seeds.ts";

let hitsOfAll = 0;

for (const seed of soakSeeds()) {
  t.test(
    `seed ${seed}: random faults cost no read, no nonce and no step back, and the cache stays true`,
    async (t) => {
      const { broken, faults, reads, sends, hits } = await runRandomFaults(t, { seed });
      t.same(broken, [], `after ${faults.join(", ")}`);
      t.same({ reads, sends }, { reads: 480, sends: 50 });
      hitsOfAll += hits;
    },
  );
}

t.test("the cache answered in between, and each of its answers was compared", async (t) => {
  t.ok(hitsOfAll > 1000, `${hitsOfAll} answers from the cache`);
});
