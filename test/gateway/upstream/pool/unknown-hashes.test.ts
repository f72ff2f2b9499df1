import { Wallet } from "ethers";
import t from "tap";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { answering, callsOf, createGate, startPool } from "./start-pool.ts";

const hash = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;
const known = hash(0xabc);
const unknown = '{"jsonrpc":"2.0","id":7,"result":null}';

/** Five validators, of which those in `knowing` have heard of one hash. */
async function startFive(
  t: Parameters<typeof startPool>[0],
  { knowing = [], settings = {} }: { knowing?: number[]; settings?: object } = {},
) {
  const gates = [0, 1, 2, 3, 4].map((index) =>
    createGate(
      answering(({ params }) => (knowing.includes(index) && params[0] === known ? '{"known":true}' : "null")),
    ),
  );
  const stubs = await Promise.all(gates.map(({ answer }) => startStubValidator(t, { answer })));
  const pool = startPool(
    t,
    stubs.map(({ url }) => url),
    { settings },
  );
  const received = () => stubs.flatMap(({ bodies }) => bodies).flatMap((body) => callsOf(body).calls);
  const openAll = () => {
    for (const { open } of gates) open();
  };
  return { ...pool, gates, stubs, received, openAll };
}

for (const method of ["eth_getTransactionReceipt", "eth_getTransactionByHash"]) {
  t.test(`a flood of hashes that nobody knows costs about two calls each: ${method}`, async (t) => {
    const { ask, openAll, received } = await startFive(t, { settings: { unknownHashesPerSecondMax: 5 } });
    openAll();
    const count = 400;
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => ask(method, [hash(index)], { group: "flood" })),
    );
    t.ok(answers.every((text) => text === unknown));
    const calls = received().length;
    t.ok(calls >= 2 * count && calls < 2.3 * count, `${calls} calls for ${count} hashes`);

    const before = received().length;
    t.equal(await ask(method, [hash(1)], { group: "quiet" }), unknown);
    t.equal(received().length - before, 5, "for another key all are asked");
  });
}

t.test("what one of five has heard of is found, one validator after the other", async (t) => {
  for (const holder of [0, 1, 2, 3, 4]) {
    const { ask, openAll, received } = await startFive(t, { knowing: [holder] });
    openAll();
    for (let round = 0; round < 4; round += 1) {
      t.match(await ask("eth_getTransactionReceipt", [known], { group: "key" }), /"known":true/);
    }
    t.ok(received().length <= 4 * 5);
  }
});

t.test("checks are their key's calls: never more of them on their way than it may have", async (t) => {
  const { ask, gates, openAll, received, stubs } = await startFive(t, {
    settings: { groupMax: { light: 6 }, arrays: { light: 1 }, connections: { light: 6 } },
  });
  const asked = Array.from({ length: 6 }, (_, index) =>
    ask("eth_getTransactionReceipt", [hash(index)], { group: "key" }),
  );
  t.ok(await waitFor("six requests are received", () => received().length === 6));
  t.equal(await ask("eth_chainId", [], { group: "key" }), "crowded");
  // Four answer, so that what they said is checked with the fifth, which holds all of it.
  for (const gate of gates.slice(0, 4)) gate.open();
  t.ok(await waitFor("the fifth validator has six requests", () => stubs[4]?.bodies.length === 6));
  t.equal(await ask("eth_chainId", [], { group: "key" }), "crowded", "each question is one call still");
  openAll();
  t.ok((await Promise.all(asked)).every((text) => text === unknown));
  t.match(await ask("eth_chainId", [], { group: "key" }), /result/);
});

t.test("unknown blocks and nonces that are too low are checked within the key's bound too", async (t) => {
  const tooLow = '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Nonce too low"}}';
  const gate = createGate(answering(() => "null"));
  const stubs = await Promise.all(
    [0, 1, 2].map(() =>
      startStubValidator(t, {
        answer: (body, response, request) =>
          body.includes("eth_sendRawTransaction") ? tooLow : gate.answer(body, response, request),
      }),
    ),
  );
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
    { settings: { groupMax: { light: 2 }, arrays: { light: 1 } } },
  );
  const received = () => stubs.flatMap(({ bodies }) => bodies).length;
  const raw = await Wallet.createRandom().signTransaction({
    to: `0x${"11".repeat(20)}`,
    chainId: 8845,
    gasLimit: 21000,
  });
  const sent = ask("eth_sendRawTransaction", [raw], { group: "key" });
  const block = ask("eth_getBlockByNumber", ["0x1", false], { group: "key" });
  t.ok(await waitFor("the receipt is asked for", () => received() === 3), "the receipt is asked for");
  t.equal(await ask("eth_chainId", [], { group: "key" }), "crowded");
  gate.open();
  t.match(await sent, /Nonce too low/);
  t.equal(await block, unknown);
  t.equal(received(), 1 + 3 + 3);
});
