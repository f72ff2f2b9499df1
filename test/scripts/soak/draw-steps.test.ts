import t from "tap";
import { drawCrashSteps } from "../../../scripts/soak/faucet-crashes/draw-crash-steps.ts";
import { drawRandomFaults } from "../../../scripts/soak/random-faults/run-random-faults.ts";
import { soakSeeds } from "../../../scripts/soak/seeds.ts";
import { drawSteps } from "../../../scripts/soak/steps/draw-steps.ts";

const options = {
  turns: { reader: 100, sender: 20 },
  blockEvery: 10,
  restartEvery: 50,
  validators: 5,
  strike: { min: 5, max: 10 },
  pause: { min: 2, max: 5 },
};

t.test("a seed gives the same steps each time, and another seed gives others", async (t) => {
  t.same(drawSteps({ seed: 7, ...options }), drawSteps({ seed: 7, ...options }));
  t.notSame(drawSteps({ seed: 7, ...options }), drawSteps({ seed: 8, ...options }));
  t.same(drawRandomFaults({ seed: 16, length: 2 }), drawRandomFaults({ seed: 16, length: 2 }));
});

t.test("each actor has its turns, with blocks and restarts in between", async (t) => {
  const steps = drawSteps({ seed: 1, ...options });
  const turnsOf = (name: string) => steps.filter((step) => step.act === "turn" && step.actor === name).length;
  t.same([turnsOf("reader"), turnsOf("sender")], [100, 20]);
  t.equal(steps.filter(({ act }) => act === "block").length, 12);
  t.equal(steps.filter(({ act }) => act === "restart").length, 2);
});

t.test("one validator is struck at a time, and heals before the next", async (t) => {
  const changes = drawSteps({ seed: 1, ...options }).filter(({ act }) => act === "strike" || act === "heal");
  t.ok(changes.length > 10, `${changes.length} changes`);
  let struck: number | undefined;
  for (const step of changes) {
    if (step.act === "strike") {
      t.equal(struck, undefined);
      struck = step.validator;
    } else if (step.act === "heal") {
      t.equal(step.validator, struck);
      struck = undefined;
    }
  }
});

t.test("a few seeds by default, more in CI, and those that are asked for", async (t) => {
  t.same(soakSeeds({}), [1, 2, 3]);
  t.equal(soakSeeds({ CI: "true" }).length, 20);
  t.same(soakSeeds({ CI: "true", SEED: "16,4" }), [16, 4]);
});

t.test("crashes of the faucet follow from the seed, and each outage ends", async (t) => {
  t.same(drawCrashSteps({ seed: 3, claims: 50 }), drawCrashSteps({ seed: 3, claims: 50 }));
  t.notSame(drawCrashSteps({ seed: 3, claims: 50 }), drawCrashSteps({ seed: 4, claims: 50 }));
  for (let seed = 1; seed <= 20; seed += 1) {
    const steps = drawCrashSteps({ seed, claims: 50 });
    const claimed = steps.flatMap((step) => (step.act === "claim" ? [step.index] : []));
    t.same(
      claimed,
      Array.from({ length: 50 }, (_, index) => index),
    );
    const outages = steps.filter(({ act }) => act === "cut" || act === "mute" || act === "stall").length;
    t.equal(steps.filter(({ act }) => act === "heal").length, outages, `seed ${seed}`);
  }
});
