import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { echo, startPool } from "./start-pool.ts";

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
  const endsAt = performance.now() + 1500;
  while (performance.now() < endsAt) {
    ask("web3_sha3", ["x"]);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [one = 0, two = 0, slow = 0] = pool.status().validators.map(({ calls }) => calls);
  t.ok(one > 60 && two > 60, `${one} and ${two} calls`);
  t.ok(slow < (one + two) / 10, `${slow} calls`);
});

t.test("who was slow and is no longer is asked again", async (t) => {
  let delayMs = 600;
  const { ask, validator } = await startThree(t, () => delayMs);
  const load = async (durationMs: number) => {
    const before = validator(2).calls;
    const endsAt = performance.now() + durationMs;
    while (performance.now() < endsAt) {
      t.match(await ask("web3_sha3", ["x"]), /result/);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return validator(2).calls - before;
  };
  await load(1000);
  t.ok(validator(2).breaker === "open" || validator(2).lanes["light"]?.slow, "it is passed over");
  delayMs = 0;
  const calls = await load(5000);
  t.ok(calls >= 20, `${calls} calls within 5 s`);
});

t.test("an answer of another shape every time costs no more than its reading", async (t) => {
  const { ask, pool } = await startThree(t, () => 0);
  const asks = Array.from({ length: 300 }, (_, index) =>
    ask("web3_sha3", [index % 3 === 0 ? null : index % 3 === 1 ? ["]", '"}', "\\"] : `0x${index}`]),
  );
  for (const text of await Promise.all(asks)) t.match(text, /^\{"jsonrpc":"2\.0","id":7,"result":.*\}$/);
  t.ok(pool.status().validators.every(({ failovers }) => Object.keys(failovers).length === 0));
});
