import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { echo, startPool } from "./start-pool.ts";

/** A validator that is slow. */
const after =
  (delayMs: () => number): StubAnswer =>
  async (body, response, request) => {
    if (delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, delayMs()));
    return echo(body, response, request);
  };

async function startThree(t: Parameters<typeof startPool>[0], delayMs: () => number) {
  const answers = [echo, echo, after(delayMs)];
  const stubs = await Promise.all(answers.map((answer) => startStubValidator(t, { answer })));
  return startPool(
    t,
    stubs.map(({ url }) => url),
  );
}

t.test("who is slower is asked less", async (t) => {
  const { ask, pool } = await startThree(t, () => 40);
  const asked = () => pool.status().validators.map(({ calls }) => calls);
  // By calls, not by time: in a second a busy machine asks as few as tell nothing.
  const [one = 0, two = 0, slow = 0] = await waitFor(
    "both that are fast were asked more than 60 times",
    () => {
      ask("web3_sha3", ["x"]);
      return (
        asked()
          .slice(0, 2)
          .every((calls) => calls > 60) && asked()
      );
    },
    { everyMs: 5 },
  );
  t.ok(slow < (one + two) / 10, `${slow} calls beside ${one} and ${two}`);
});

t.test("who was slow and is no longer is asked again", async (t) => {
  let delayMs = 600;
  const { ask, validator } = await startThree(t, () => delayMs);
  const loadUntil = (what: string, holds: () => boolean) =>
    waitFor(
      what,
      async () => {
        t.match(await ask("web3_sha3", ["x"]), /result/);
        return holds();
      },
      { everyMs: 5 },
    );
  await loadUntil(
    "it is passed over",
    () => validator(2).breaker === "open" || validator(2).lanes["light"]?.slow === true,
  );
  delayMs = 0;
  const before = validator(2).calls;
  await loadUntil("it is asked 20 times", () => validator(2).calls - before >= 20);
});

t.test("an answer of another shape every time costs no more than its reading", async (t) => {
  const { ask, pool } = await startThree(t, () => 0);
  const asks = Array.from({ length: 300 }, (_, index) =>
    ask("web3_sha3", [index % 3 === 0 ? null : index % 3 === 1 ? ["]", '"}', "\\"] : `0x${index}`]),
  );
  for (const text of await Promise.all(asks)) t.match(text, /^\{"jsonrpc":"2\.0","id":7,"result":.*\}$/);
  t.ok(pool.status().validators.every(({ failovers }) => Object.keys(failovers).length === 0));
});
