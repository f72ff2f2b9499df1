import t from "tap";
import { coreKey, qaKey } from "../../helpers/gateway.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { account, callMany, loop, startMortals, unbounded } from "./trace-rig.ts";

const deadlyGas = 50_000_000;
const smallGas = 100_000;
const lost = { error: { code: -32002, data: { code: "upstream_unavailable" } } };

t.test("the trace of issue 14 is refused by its gas, and no validator sees it", async (t) => {
  const { gateways, gateway, struck, seen } = await startMortals(t);
  for (const { post } of gateways) {
    const { status, json } = await post(callMany(deadlyGas));
    t.equal(status, 200);
    t.match(json, {
      error: { code: -32602, message: /50000000 gas; at most 2000000/, data: { gasMax: 2_000_000 } },
    });
  }
  t.same(seen.bodies, []);
  t.equal(struck.size, 0);
  t.match((await gateway.post(callMany(smallGas))).json, { result: [{ trace: [] }] }, "a small one is run");
});

t.test("beyond the bounds one validator of five is lost, whatever is tried", async (t) => {
  const { gateways, gateway, struck } = await startMortals(t, { change: unbounded });
  let stopped = false;
  const reads = { answered: 0, failed: 0 };
  const reading = gateways.map(async ({ post }, index) => {
    while (!stopped) {
      const body =
        index === 0
          ? { jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [account, "latest"] }
          : { jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to: account }, "latest"] };
      const { json } = await post(body, { key: qaKey });
      reads[JSON.stringify(json).includes('"result"') ? "answered" : "failed"] += 1;
    }
  });
  // At once at both, the same one and others, one after the other, and beside each other.
  const [one, other] = await Promise.all(gateways.map(({ post }) => post(callMany(deadlyGas))));
  t.match([one?.json, other?.json], [lost, lost]);
  t.equal(struck.size, 1, "of two at once one is run");
  for (let seed = 0; seed < 4; seed += 1) {
    await Promise.all(gateways.map(({ post }) => post(callMany(deadlyGas, seed))));
  }
  await Promise.all(gateways.flatMap(({ post }) => [5, 6, 7].map((seed) => post(callMany(deadlyGas, seed)))));
  t.equal(struck.size, 1);

  const refused = await gateways[1]?.post(callMany(smallGas));
  t.match(refused?.json, { error: { message: /API key/ } }, "its key gets no traces for a while, at either");
  const honest = await gateways[1]?.post(callMany(smallGas), { key: qaKey });
  t.match(honest?.json, { result: [{ trace: [] }] }, "another key does");
  const same = await gateway.post(callMany(deadlyGas), { key: qaKey });
  t.match(same.json, {
    error: { message: /A validator failed while it ran this call, so the call is refused/ },
  });
  t.equal(same.status, 503);
  t.equal(struck.size, 1, "and the same call is refused to everybody");

  stopped = true;
  await Promise.all(reading);
  t.equal(reads.failed, 0, "meanwhile every quick read was answered");
  t.ok(reads.answered > 4, `${reads.answered} reads`);

  const noted = await Promise.all(
    gateways.map(async ({ opsUrl }) => {
      const { traces } = JSON.parse(await (await fetch(`${opsUrl}/status`)).text());
      return traces.deadlyCalls.noted;
    }),
  );
  t.same(noted.sort(), [0, 1], "and it is told");
  const logged = gateways
    .flatMap(({ logLines }) => logLines)
    .filter((line) => line.includes("ended its validator"));
  t.equal(logged.length, 1);
  t.notMatch(logged.join(), coreKey);
});

t.test("none is run on the last two healthy validators, and reads go on", async (t) => {
  const { cluster, gateway, struck, seen } = await startMortals(t, { gateways: 1, change: unbounded });
  for (const index of [0, 1, 2]) await cluster.validator(index).die();
  const balance = { jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [account, "latest"] };
  for (let round = 0; round < 50; round += 1) t.match((await gateway.post(balance)).json, { result: /^0x/ });
  const { status, json } = await gateway.post(callMany(smallGas));
  t.equal(status, 503);
  t.match(json, { error: { code: -32002, message: /Too few validators are healthy for traces/ } });
  t.same(seen.bodies, []);
  t.equal(struck.size, 0);
  await cluster.validator(0).comeBack();
  const answer = await waitFor("three validators answer", async () => {
    const { text, json } = await gateway.post(callMany(smallGas));
    return text.includes('"result"') && json;
  });
  t.match(answer, { result: [{ trace: [] }] }, "with three it is");
});

t.test("a validator runs one trace at a time, whoever asks", async (t) => {
  const { gateways, seen } = await startMortals(t);
  const asked = gateways.flatMap(({ post }) =>
    [coreKey, qaKey, coreKey, qaKey].map((key, seed) => post(callMany(smallGas, seed), { key })),
  );
  for (const { json } of await Promise.all(asked)) t.match(json, { result: [{ trace: [] }] });
  t.equal(seen.most, 1);
  t.equal(seen.bodies.length, 8);
});

t.test("without Redis a process holds to its own", async (t) => {
  const { redis, gateway, struck } = await startMortals(t, { gateways: 1, change: unbounded });
  await gateway.post(callMany(smallGas));
  await redis.kill();
  const answers = await Promise.all([1, 2, 3].map((seed) => gateway.post(callMany(deadlyGas, seed))));
  for (const { json } of answers) t.match(json, lost);
  t.ok(struck.size <= 1, `${struck.size} lost`);
});

t.test(
  "calls that run the EVM for long are refused after they ended a validator, at other gateways too",
  async (t) => {
    const { cluster, gateways, gateway } = await startMortals(t, {
      change: (config) => ({ ...config, forward: { ...config.forward, runMsMax: 50 } }),
    });
    const struck = new Set<number>();
    for (const validator of cluster.validators) {
      validator.dieOf(
        ({ method, params }) => {
          const isDeadly = method === "eth_call" && JSON.stringify(params).includes("beef");
          if (isDeadly) struck.add(validator.index);
          return isDeadly;
        },
        { afterMs: 150 },
      );
    }
    const deadly = {
      jsonrpc: "2.0",
      id: 1,
      method: "eth_call",
      params: [{ to: account, data: "0xbeef" }, "latest"],
    };
    t.match((await gateway.post(deadly)).json, lost);
    await cluster.mine();
    t.match(
      (await gateway.post(deadly)).json,
      { error: { message: /refused for a while/ } },
      "in the next block too",
    );
    const [, second] = gateways;
    await waitFor("the other gateway knows the call", async () => {
      const { traces } = JSON.parse(await (await fetch(`${second?.opsUrl}/status`)).text());
      return traces.deadlyCalls.known === 1;
    });
    t.match((await second?.post(deadly))?.json, { error: { message: /refused for a while/ } });
    t.equal(struck.size, 1);
    const other = { ...deadly, params: [{ to: account, data: "0x" }, "latest"] };
    t.match((await gateway.post(other)).json, { result: "0x" });
  },
);

t.test("a batch's other calls are answered beside a trace that is lost", async (t) => {
  const { gateway, struck } = await startMortals(t, { gateways: 1, change: unbounded });
  const { json, status } = await gateway.post([
    { ...callMany(deadlyGas), id: 1 },
    { jsonrpc: "2.0", id: 2, method: "eth_getBalance", params: [account, "latest"] },
    { jsonrpc: "2.0", id: 3, method: "trace_call", params: [...loop(smallGas), "latest"] },
  ]);
  t.equal(status, 200);
  t.match(json, [{ id: 1, ...lost }, { id: 2, result: /^0x/ }, { id: 3 }]);
  t.equal(struck.size, 1);
});
