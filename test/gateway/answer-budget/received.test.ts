import t, { type Test } from "tap";
import type { StubAnswer } from "../../fakes/stub-validator.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { answering, callsOf, callTo, createGate, startPool } from "../upstream/pool/start-pool.ts";
import { kibibyte, mebibyte } from "./long-answers.ts";

/** Whatever it is asked, it begins to answer with this many bytes, and leaves the end open where it never comes. */
function endless(bytes: number): StubAnswer {
  const filler = Buffer.alloc(bytes, "a");
  return (body, response) => {
    const { isArray } = callsOf(body);
    response.writeHead(200, { "Content-Length": String(10 * bytes) });
    response.write(`${isArray ? "[" : ""}{"jsonrpc":"2.0","id":1,"result":"`);
    response.write(filler);
    return undefined;
  };
}

const heldBytes = "tollgate_gateway_received_bytes_held";
const small = answering(({ params }) => JSON.stringify(params[0]));
const settings = {
  streamFromBytes: 64 * kibibyte,
  answerBytesMax: 2 * mebibyte,
  answersBytesMax: 4 * mebibyte,
  arrays: { light: 1, call: 1 },
  // Nor is one that a busy machine makes silent asked for its chain's ID, of which these stubs know nothing.
  health: { suspectAfterMs: 10_000, slowMsMin: 60_000 },
};

async function gauge(registry: { metrics(): Promise<string> }, name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await registry.metrics())?.[1]);
}

async function urlsOf(t: Test, answers: readonly StubAnswer[]): Promise<string[]> {
  const stubs = await Promise.all(answers.map((answer) => startStubValidator(t, { answer })));
  return stubs.map(({ url }) => url);
}

t.test(
  "a validator that answers everything at length holds its part at most, and hurts nobody's call",
  async (t) => {
    const { ask, registry, validator } = startPool(
      t,
      await urlsOf(t, [endless(3 * mebibyte), small, small]),
      {
        settings,
      },
    );
    const held: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const names = Array.from({ length: 20 }, (_, index) => `${round}-${index}`);
      const asked = names.map((name) => ask("web3_sha3", [name]));
      held.push(await gauge(registry, heldBytes));
      t.strictSame(
        await Promise.all(asked),
        names.map((name) => `{"jsonrpc":"2.0","id":7,"result":"${name}"}`),
      );
      held.push(await gauge(registry, heldBytes));
    }
    t.ok(Math.max(...held) <= settings.answersBytesMax / 2, `${Math.max(...held)} bytes at most`);
    // On a busy machine calls are hedged, and the later answer comes in still.
    await waitFor("the room is given back", async () => (await gauge(registry, heldBytes)) === 0);
    t.ok((validator(0).failovers["too_large"] ?? 0) > 0, JSON.stringify(validator(0).failovers));
    t.not(validator(0).lastTakenOut, null, "it is blamed, since others said it shorter");
    t.equal(validator(1).lastTakenOut, null);
  },
);

t.test("what finds no room on its way is refused as such, and finds it when there is", async (t) => {
  const long = answering(() => `"${"a".repeat(1.5 * mebibyte)}"`);
  const gate = createGate(long);
  const { pool, registry } = startPool(t, await urlsOf(t, [gate.answer, gate.answer]), { settings });
  // Four of 1.5 MiB: two validators have room for one each.
  const asked = [1, 2, 3, 4].map((name) => pool.ask(callTo("web3_sha3", [`${name}`])));
  gate.open();
  const outcomes = (await Promise.all(asked)).map((answer) =>
    typeof answer === "string" ? answer : "answered",
  );
  t.ok(outcomes.every((outcome) => outcome === "answered" || outcome === "no_room"));
  t.ok(outcomes.includes("answered"));
  await waitFor("the room is given back", async () => (await gauge(registry, heldBytes)) === 0);
  const alone = await pool.ask(callTo("web3_sha3", ["alone"]));
  t.type(alone, "object", "with room again");
});

t.test("an answer that is too long for all validators is refused, and nobody blamed", async (t) => {
  const { ask, validator } = startPool(t, await urlsOf(t, [endless(3 * mebibyte), endless(3 * mebibyte)]), {
    settings,
  });
  for (let call = 0; call < 5; call += 1) t.equal(await ask("web3_sha3", [`${call}`]), "too_large");
  t.ok([0, 1].every((index) => validator(index).lastTakenOut === null));
});

t.test("with one validator it is asked twice at most", async (t) => {
  const stub = await startStubValidator(t, { answer: endless(3 * mebibyte) });
  const { ask } = startPool(t, [stub.url], { settings });
  t.equal(await ask("web3_sha3", ["x"]), "too_large");
  t.ok(stub.bodies.length <= 2);
});
