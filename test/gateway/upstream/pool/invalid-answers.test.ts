import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { startGateway } from "../../../helpers/gateway.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { answering, callsOf, startPool } from "./start-pool.ts";

/** JSON by its first and last byte only. */
const invalid = ['{"number":"0x1",,}', '[{"a":1}{"b":2}]', '"0x\\q"', '{"hash":}', '["a\n"]'];
const lying = (text: string) => answering(() => text);
const honest = answering(({ params }) => JSON.stringify({ of: params[0] }));

for (const text of invalid) {
  t.test(
    `${JSON.stringify(text)} is no answer: another validator is asked, and this one blamed`,
    async (t) => {
      const stubs = await Promise.all(
        [lying(text), honest].map((answer) => startStubValidator(t, { answer })),
      );
      const { ask, validator } = startPool(
        t,
        stubs.map(({ url }) => url),
      );
      // One by one, then many at once: alone and in arrays.
      for (let call = 0; call < 20; call += 1) {
        t.equal(await ask("web3_sha3", [`${call}`]), `{"jsonrpc":"2.0","id":7,"result":{"of":"${call}"}}`);
      }
      const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
      t.strictSame(
        await Promise.all(names.map((name) => ask("web3_sha3", [name]))),
        names.map((name) => `{"jsonrpc":"2.0","id":7,"result":{"of":"${name}"}}`),
      );
      t.ok((validator(0).failovers["bad_answer"] ?? 0) > 0, "counted");
      t.equal(validator(0).lastTakenOut?.reason, "bad_answer");
      t.equal(validator(1).lastTakenOut, null);
    },
  );
}

t.test("what is remembered and shared is JSON, whatever a validator says", async (t) => {
  const redis = await startRedis(t);
  let lies = 0;
  const liar: StubAnswer = (body, response, request) => {
    lies += callsOf(body).calls.length;
    return lying('{"number":"0x1",,}')(body, response, request);
  };
  const stubs = await Promise.all([liar, honest].map((answer) => startStubValidator(t, { answer })));
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: stubs.map(({ url }) => url),
    change: (config) => ({ ...config, memory: { ...config.memory, bytesMax: 1024 * 1024 } }),
  });
  const call = (id: number, name: string) => ({
    jsonrpc: "2.0",
    id,
    method: "eth_getBalance",
    params: [name, "0x1"],
  });
  for (let round = 0; round < 40; round += 1) {
    const name = `0x${String(round).padStart(40, "0")}`;
    const asked = [call(1, name), call(2, name), call(3, name)];
    const expected = [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, result: { of: name } }));
    // The second time from memory.
    for (const _time of [1, 2]) t.same((await gateway.post(asked)).json, expected);
  }
  t.ok(lies > 0, "it was asked");
});

t.test("where every validator says so the call is unanswered, never passed on", async (t) => {
  const stubs = await Promise.all([0, 1].map(() => startStubValidator(t, { answer: lying("{oops}") })));
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  t.equal(await ask("web3_sha3", ["x"]), "unavailable");
});
