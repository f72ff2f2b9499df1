import t from "tap";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { startValidators } from "../../../fakes/validators/start-validators.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callsOf, callTo, createGate, echo, startPool } from "./start-pool.ts";

const callMs = 110;
/** Two processors are shared by validators, load and whatever else runs. */
const slackMs = 150;

/** Asks again and again until told to stop, so many at a time. */
function flood(atOnce: number, ask: () => Promise<unknown>) {
  let isOver = false;
  const loops = Array.from({ length: atOnce }, async () => {
    while (!isOver) await ask();
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
  };
}

/** How long calls take, one after the other: the longest of them. */
async function longestMs(count: number, ask: () => Promise<string>): Promise<number> {
  let longest = 0;
  for (let round = 0; round < count; round += 1) {
    const began = performance.now();
    const text = await ask();
    if (!text.includes('"result"')) throw new Error(text);
    longest = Math.max(longest, performance.now() - began);
  }
  return longest;
}

for (const count of [5, 1]) {
  t.test(
    `a key's 500 slow calls cost another's no more than one call's time: ${count} validators`,
    async (t) => {
      const cluster = await startValidators(t, { count });
      await cluster.mine(1);
      for (const validator of cluster.validators) validator.latency("eth_call", callMs);
      const { ask } = startPool(t, cluster.urls, { settings: { groupMax: { call: 512 } } });
      const callOf = (group: string) => () => ask("eth_call", [{}, "0x1"], { group });
      const aloneMs = await longestMs(5, callOf("quiet"));
      const stop = flood(500, callOf("heavy"));
      // The first arrays of a key that nobody knows are long; what follows is not.
      const firstMs = await longestMs(1, callOf("quiet"));
      const besideMs = await longestMs(20, callOf("quiet"));
      void stop();
      t.comment(`alone ${aloneMs} ms, at first ${firstMs} ms, then ${besideMs} ms`);
      for (const tookMs of [firstMs, besideMs]) {
        t.ok(tookMs <= 2 * aloneMs + callMs + slackMs, `${tookMs} ms, alone ${aloneMs} ms`);
      }
    },
  );
}

t.test(
  "a key's quick calls share arrays, a slow key's go alone, and neither stands in the other's",
  async (t) => {
    const stub = await startStubValidator(t, {
      answer: async (body, response, request) => {
        // Each slow call takes its time, one after the other.
        const slow = callsOf(body).calls.filter(({ params }) => params[0] === "slow").length;
        if (slow > 0) await new Promise((resolve) => setTimeout(resolve, slow * callMs));
        return echo(body, response, request);
      },
    });
    const { ask } = startPool(t, [stub.url]);
    const callOf = (name: string) => ask("eth_call", [name], { group: name });
    // Until both are known.
    for (let round = 0; round < 3; round += 1) await Promise.all([callOf("slow"), callOf("quick")]);
    stub.bodies.length = 0;
    const names = Array.from({ length: 24 }, (_, index) => (index % 3 === 0 ? "slow" : "quick"));
    await Promise.all(names.map(callOf));
    const arrays = stub.bodies.map((body) => callsOf(body).calls.map(({ params }) => params[0]));
    t.ok(arrays.every((array) => new Set(array).size === 1));
    t.ok(arrays.every((array) => array[0] === "quick" || array.length === 1));
    t.ok(
      arrays.some((array) => array.length > 1),
      "calls that are quick still share arrays",
    );
  },
);

t.test("wide logs hold up no balance, and narrow ones stay with the quick", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, {
    answer: (body, response, request) =>
      body.includes("eth_getLogs") ? gate.answer(body, response, request) : echo(body, response, request),
  });
  const { pool, ask, validator } = startPool(t, [stub.url], { settings: { groupMax: { slow: 128 } } });
  const logs = callTo("eth_getLogs", [{ fromBlock: "0x0", toBlock: "0x3e7" }]);
  const wide = { ...logs, rule: logs.rule.wide?.rule ?? logs.rule };
  const asked = Array.from({ length: 200 }, () => pool.ask(wide, { group: "heavy" }));
  t.ok(await waitFor("eight slow calls in flight", () => validator(0).lanes["slow"]?.inFlight === 8));
  t.equal(validator(0).lanes["light"]?.inFlight, 0);
  const tookMs = await longestMs(20, () => ask("eth_getBalance", ["0x00"], { group: "quiet" }));
  t.ok(tookMs < slackMs, `${tookMs} ms`);
  gate.open();
  const answers = await Promise.all(asked);
  t.equal(
    answers.filter((answer) => answer === "crowded").length,
    200 - 128,
    "more than that is the key's bound",
  );
  t.equal(answers.filter((answer) => typeof answer !== "string").length, 128);
});

t.test("one key's transactions do not keep another's reads from the only validator", async (t) => {
  const stub = await startStubValidator(t, {
    answer: async (body, response, request) => {
      // A validator that takes 20 ms for whatever it is asked.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return echo(body, response, request);
    },
  });
  for (const light of [1, 4]) {
    const { ask } = startPool(t, [stub.url], { settings: { connections: { light } } });
    // All before it would take 3 s with four connections, and 12 with one.
    const stop = flood(600, () => ask("eth_sendRawTransaction", ["0x00"], { group: "heavy" }));
    const tookMs = await longestMs(5, () => ask("eth_getBalance", ["0x00"], { group: "quiet" }));
    t.ok(tookMs <= 3 * 20 + 10 * slackMs, `${tookMs} ms with ${light} connections`);
    const sentMs = await longestMs(3, () => ask("eth_sendRawTransaction", ["0x01"], { group: "quiet" }));
    t.ok(sentMs <= 20 * 20 + 10 * slackMs, `${sentMs} ms: at most a turn of the other's`);
    void stop();
  }
});

t.test("a full queue refuses the key that fills it", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, { answer: gate.answer });
  const settings = { connections: { light: 1 }, arrays: { light: 1 }, queueMax: { light: 20 } };
  const { ask } = startPool(t, [stub.url], { settings });
  const heavy = Array.from({ length: 30 }, (_, index) => ask("web3_sha3", [`h${index}`], { group: "heavy" }));
  await waitFor("the validator has one request", () => stub.bodies.length === 1);
  const quiet = Array.from({ length: 5 }, (_, index) => ask("web3_sha3", [`q${index}`], { group: "quiet" }));
  gate.open();
  t.ok((await Promise.all(quiet)).every((text) => text.includes('"result":"q')));
  const answers = await Promise.all(heavy);
  t.ok(answers.filter((text) => text === "unavailable").length >= 10 + 5 - 1);
  t.ok(answers[0]?.includes("h0"));
});

t.test("a key's long answers go alone and in turn, so that another's short ones do not wait", async (t) => {
  const longText = `"0x${"ab".repeat(200_000)}"`;
  const arrays: { methods: string[]; keys: string[] }[] = [];
  const stub = await startStubValidator(t, {
    answer: async (body) => {
      const { calls } = callsOf(body);
      arrays.push({
        methods: calls.map(({ method }) => method),
        keys: calls.map(({ params }) => String(params[0])),
      });
      // Time for others to come while it works.
      await new Promise((resolve) => setTimeout(resolve, 5));
      const texts = calls.map(
        ({ id, method }) =>
          `{"jsonrpc":"2.0","id":${id},"result":${method === "eth_getCode" ? longText : '"0x1"'}}`,
      );
      return body.startsWith("[") ? `[${texts.join(",")}]` : (texts[0] ?? "");
    },
  });
  const { ask } = startPool(t, [stub.url], { settings: { connections: { light: 1 } } });
  await ask("eth_getCode", ["heavy", "0x1"], { group: "heavy" });
  arrays.length = 0;
  const heavy = Array.from({ length: 40 }, () => ask("eth_getCode", ["heavy", "0x1"], { group: "heavy" }));
  const small = Array.from({ length: 5 }, () => ask("eth_getBalance", ["heavy", "0x1"], { group: "heavy" }));
  const quiet = Array.from({ length: 5 }, () => ask("eth_getBalance", ["quiet", "0x1"], { group: "quiet" }));
  await Promise.all(quiet);
  const before = arrays.filter(({ methods }) => methods.includes("eth_getCode")).length;
  t.ok(before <= 2, `${before} long answers came before the short ones of another key`);
  await Promise.all([...heavy, ...small]);
  const long = arrays.filter(({ methods }) => methods.includes("eth_getCode"));
  t.equal(long.length, 40);
  t.ok(
    long.every(({ methods }) => methods.length === 1),
    "each alone",
  );

  // Short answers make it forget: the method shares arrays again.
  stub.answerWith(echo);
  for (let round = 0; round < 16; round += 1) await ask("eth_getCode", ["heavy", "0x1"], { group: "heavy" });
  stub.bodies.length = 0;
  await Promise.all(
    Array.from({ length: 10 }, () => ask("eth_getCode", ["heavy", "0x1"], { group: "heavy" })),
  );
  t.ok(stub.bodies.length < 10, `${stub.bodies.length} requests for 10 calls`);
});

t.test(
  "one key's slow calls, retried again and again, do not keep another's from the validators",
  async (t) => {
    let requests = 0;
    const answer: StubAnswer = async (body, response, request) => {
      const { calls } = callsOf(body);
      const heavy = calls.filter(({ params }) => params[0] === "heavy").length;
      requests += 1;
      // One after the other, as a validator with one thread runs them. An array of them is late, and so are its halves.
      await new Promise((resolve) => setTimeout(resolve, heavy * 40));
      return echo(body, response, request);
    };
    const stubs = await Promise.all([1, 2, 3].map(() => startStubValidator(t, { answer })));
    const { ask } = startPool(
      t,
      stubs.map(({ url }) => url),
      { settings: { connections: { light: 1 }, arrays: { splitAfterMs: 200 } } },
    );
    const stop = flood(400, () => ask("web3_sha3", ["heavy"], { group: "heavy" }));
    await waitFor("arrays were late and are retried", () => requests > 5);
    for (let round = 0; round < 4; round += 1) {
      const before = requests;
      t.match(await ask("web3_sha3", ["quiet"], { group: "quiet" }), /quiet/);
      t.ok(requests - before <= 24, `${requests - before} requests went before it`);
    }
    void stop();
  },
);
