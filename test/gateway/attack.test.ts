import t from "tap";
import { attacks } from "../../scripts/soak/attack/attacks.ts";
import { runAttacks } from "../../scripts/soak/attack/run-attacks.ts";

/** Another one with SEED=…; `npm run soak -- attack` strikes with everything, and for as long as one likes. */
const seed = Number(process.env["SEED"] ?? 1 + Math.floor(Math.random() * 1000));
/** The stand-ins share a thread, and long answers would be slow there: answer-budget/ has tests of these. */
const ofLongAnswers = new Set(["bigBatchesUnread", "bigFramesUnread"]);

t.test(`seed ${seed}: no attack costs a quiet key an answer, a gateway or its memory`, async (t) => {
  const names = Object.keys(attacks).filter((name) => !ofLongAnswers.has(name));
  const all = await runAttacks(t, {
    seed,
    names,
    durationMs: 500,
    restMs: 300,
    scale: 0.1,
    // Everything shares two processors with the tests beside it: here no bound is of time, but for what hangs.
    slackMs: 5000,
  });
  t.equal(all.length, names.length);
  for (const { name, broken, outcomes } of all) {
    t.same(broken, [], `${name} breaks nothing`);
    t.not(Object.keys(outcomes).length, 0, `${name} was carried out`);
  }
});
