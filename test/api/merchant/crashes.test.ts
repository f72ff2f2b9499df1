import t from "tap";
import { type PlantedFault, plantedFaults } from "../../../scripts/soak/merchant-crashes/plant-fault.ts";
import { runMerchantSeeds } from "../../../scripts/soak/merchant-crashes/run-merchant-seeds.ts";
import { soakSeeds } from "../../../scripts/soak/seeds.ts";

/**
 * With these the fault meets what it breaks, mostly with the first: an api has to end itself while it books a payment by contract, or just
 * after, or two calls have to come at the same moment. It ends with the first that is found.
 */
const seedsOf: Record<PlantedFault, readonly number[]> = {
  "no transaction": [9, 18, 27, 36, 45, 54, 63, 72],
  "no order check": [2, 11, 20, 29, 38, 47, 56, 65],
  "told after the booking": [4, 13, 22, 31, 40, 49],
  "delivered when claimed": [6, 15],
  "a new body each try": [7, 16],
};

t.setTimeout(900_000);

t.test(
  "kill -9 of apis, PostgreSQL and Redis: payments are booked as the chain has them, each paid key is issued once, each payment told once",
  async (t) => {
    await runMerchantSeeds(t, {
      // Each of the nine points once.
      seeds: soakSeeds(process.env, { inCi: 9 }),
      onFindings({ seed, faults, broken, tookMs }) {
        t.same(broken, [], `seed ${seed}, ${Math.round(tookMs)} ms: ${faults.join(", ")}`);
        t.ok(faults.length > 1);
      },
    });
  },
);

for (const plant of plantedFaults) {
  t.test(
    `a fault that is planted is found: ${plant}`,
    { skip: process.env["CI"] === undefined && "only in CI" },
    async (t) => {
      let found = false;
      await runMerchantSeeds(t, {
        seeds: seedsOf[plant],
        plant,
        onFindings({ broken }) {
          found = broken.length > 0;
        },
        goesOn: () => !found,
      });
      t.ok(found);
    },
  );
}
