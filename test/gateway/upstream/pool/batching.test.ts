import t from "tap";
import { isStreamed } from "../../../../gateway/upstream/upstream-result.ts";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { startStopwatch } from "../../../helpers/stopwatch.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { answering, callsOf, callTo, createGate, echo, startPool } from "./start-pool.ts";

const lengthOf = (body: string) => callsOf(body).calls.length;
const methodsOf = (bodies: readonly string[]) =>
  bodies.map((body) => callsOf(body).calls.map(({ method }) => method));

t.test("one call at a time travels as a single object", async (t) => {
  const stub = await startStubValidator(t, { answer: echo });
  const { ask } = startPool(t, [stub.url]);
  for (const name of ["a", "b", "c"]) {
    t.equal(await ask("web3_sha3", [name]), `{"jsonrpc":"2.0","id":7,"result":"${name}"}`);
  }
  // A busy machine may see it as silent in between, and ping it.
  const asked = stub.bodies.filter((body) => !body.includes("eth_chainId"));
  t.strictSame(asked, [
    '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["a"]}',
    '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["b"]}',
    '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["c"]}',
  ]);
});

t.test("what comes in one turn of the event loop leaves as one array, to one validator", async (t) => {
  const stubs = await Promise.all([0, 1, 2].map(() => startStubValidator(t, { answer: echo })));
  const { ask } = startPool(
    t,
    stubs.map(({ url }) => url),
  );
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const answers = await Promise.all(names.map((name) => ask("web3_sha3", [name])));
  t.strictSame(
    answers,
    names.map((name) => `{"jsonrpc":"2.0","id":7,"result":"${name}"}`),
  );
  const bodies = stubs.flatMap((stub) => stub.bodies);
  t.equal(bodies.length, 1);
  t.equal(
    bodies[0],
    `[${names.map((name, index) => `{"jsonrpc":"2.0","id":${index + 1},"method":"web3_sha3","params":["${name}"]}`).join(",")}]`,
  );
});

t.test("an array has at most so many calls as its lane allows; lanes do not mix", async (t) => {
  const stub = await startStubValidator(t, { answer: echo });
  const { ask } = startPool(t, [stub.url]);
  await Promise.all([
    ...Array.from({ length: 130 }, () => ask("web3_sha3", ["x"])),
    ...Array.from({ length: 20 }, () => ask("eth_call", [{}, "0x1"])),
    ...Array.from({ length: 3 }, () => ask("debug_traceTransaction", ["0x1"])),
  ]);
  const lengths = (method: string) =>
    methodsOf(stub.bodies)
      .filter((methods) => methods[0] === method)
      .map((methods) => methods.length)
      .sort((one, other) => other - one);
  t.strictSame(lengths("web3_sha3"), [64, 64, 2]);
  t.strictSame(lengths("eth_call"), [8, 8, 4]);
  t.strictSame(lengths("debug_traceTransaction"), [1, 1, 1]);
  t.ok(methodsOf(stub.bodies).every((methods) => new Set(methods).size === 1));
});

t.test("parameters of an array stay below what a validator reads, and a call of any size goes", async (t) => {
  const stub = await startStubValidator(t, { answer: answering(() => "true") });
  const { ask } = startPool(t, [stub.url], { settings: { arrays: { paramsBytesMax: 1000 } } });
  const large = "x".repeat(1500);
  const middle = "y".repeat(400);
  await Promise.all([middle, middle, middle, large, "z", "z"].map((text) => ask("web3_sha3", [text])));
  t.strictSame(stub.bodies.map(lengthOf).sort(), [1, 1, 2, 2]);
});

/** A validator that is silent for long is asked whether it lives, which a stub counts among the calls. */
const noPings = { health: { suspectAfterMs: 10_000 } };

t.test("while all connections are busy calls gather, and leave together when one comes free", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, { answer: gate.answer });
  const { ask, validator } = startPool(t, [stub.url], { settings: noPings });
  const early: Promise<string>[] = [];
  for (const name of ["1", "2", "3", "4"]) {
    early.push(ask("web3_sha3", [name]));
    await waitFor(`the validator has request ${name}`, () => stub.bodies.length === Number(name));
  }
  t.equal(validator(0).lanes["light"]?.inFlight, 4);
  const late: Promise<string>[] = [];
  for (let index = 0; index < 30; index += 1) {
    late.push(ask("web3_sha3", [`late ${index}`]));
    // Not all in one turn: what comes together would share an array in any case.
    if (index % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(stub.bodies.length, 4, "nothing more leaves");
  gate.open();
  t.equal((await Promise.all([...early, ...late])).filter((text) => text.includes("result")).length, 34);
  t.strictSame(stub.bodies.map(lengthOf), [1, 1, 1, 1, 30]);
});

t.test("a validator has no more connections than its lanes have places, whatever is asked", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, { answer: gate.answer });
  const settings = { ...noPings, connections: { light: 2, call: 1, slow: 3 } };
  const { ask, validator } = startPool(t, [stub.url], { settings });
  const all: Promise<string>[] = [];
  for (let round = 0; round < 6; round += 1) {
    all.push(ask("web3_sha3", ["x"]), ask("eth_call", [{}, "0x1"]), ask("debug_traceTransaction", ["0x1"]));
    // A round's calls have left before the next come, which would share their arrays.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await waitFor("every place is taken", () => stub.bodies.length >= 6);
  t.equal(stub.bodies.length, 6);
  const { light, call, slow } = validator(0).lanes;
  t.strictSame([light?.inFlight, call?.inFlight, slow?.inFlight], [2, 1, 3]);
  gate.open();
  t.ok((await Promise.all(all)).every((text) => text.includes("result")));
});

t.test("processes share a validator's workers, at least one for each lane", async (t) => {
  const stub = await startStubValidator(t, { answer: echo });
  const places = (processes: number) => {
    const { validator } = startPool(t, [stub.url], { settings: { processes, workersPerValidator: 18 } });
    return Object.values(validator(0).lanes).map(({ max }) => max);
  };
  t.strictSame(places(1), [4, 4, 8]);
  t.strictSame(places(2), [2, 2, 4]);
  t.strictSame(places(3), [1, 1, 3]);
  t.strictSame(places(50), [1, 1, 1]);
});

t.test("a call too many is refused at once: of one key, and of all", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, { answer: gate.answer });
  const settings = {
    connections: { light: 1 },
    arrays: { light: 1 },
    queueMax: { light: 6 },
    groupMax: { light: 3 },
  };
  const { ask } = startPool(t, [stub.url], { settings });
  const stopwatch = startStopwatch();
  const flood = (group: string | undefined, count: number) =>
    Array.from({ length: count }, () => ask("web3_sha3", ["x"], group === undefined ? {} : { group }));
  const first = flood("a", 5);
  await waitFor("the validator has one request", () => stub.bodies.length === 1);
  const second = flood("b", 2);
  const others = flood(undefined, 5);
  const refused = await Promise.all([...first.slice(3), ...others.slice(2)]);
  t.strictSame([...new Set(refused)], ["crowded", "unavailable"]);
  t.ok(stopwatch.elapsedMs() < 1000);
  gate.open();
  const taken = await Promise.all([...first.slice(0, 3), ...second, ...others.slice(0, 2)]);
  t.ok(taken.every((text) => text.includes("result")));
  t.match(
    await ask("web3_sha3", ["x"], { group: "a" }),
    /result/,
    "the key's calls are over, so it may ask again",
  );
});

t.test("bytes go and come as they are", async (t) => {
  const texts = ["plain", "größe 🦊", 'quote " and \\ backslash', "\u0000\u001f"];
  const stub = await startStubValidator(t, { answer: echo });
  const { pool } = startPool(t, [stub.url]);
  const asks = [...texts, ...texts].map((text) => pool.ask(callTo("web3_sha3", [text])));
  const alone = pool.ask(callTo("eth_call", ["größe 🦊"]));
  for (const [index, answer] of [...(await Promise.all(asks)), await alone].entries()) {
    if (typeof answer === "string") throw new Error("not answered");
    const bytes = Buffer.from(`${answer.beforeId}"id"${answer.afterId}`, "latin1");
    const expected = [...texts, ...texts, "größe 🦊"][index];
    t.strictSame(JSON.parse(bytes.toString()), { jsonrpc: "2.0", id: "id", result: expected });
  }
});

t.test("only text without a byte above 0x7f is told to be ASCII", async (t) => {
  const stub = await startStubValidator(t, { answer: echo });
  const { pool } = startPool(t, [stub.url]);
  const isAscii = async (text: string) => {
    const answer = await pool.ask(callTo("web3_sha3", [text]));
    return typeof answer !== "string" && !isStreamed(answer) && answer.isAscii;
  };
  t.equal(await isAscii("plain"), true);
  t.equal(await isAscii("größe"), false);
});

t.test("a call whose time is over is not waited for, and does not leave where it had not", async (t) => {
  const gate = createGate(echo);
  const stub = await startStubValidator(t, { answer: gate.answer });
  const { ask } = startPool(t, [stub.url], { settings: { connections: { slow: 1 } } });
  const first = ask("debug_traceTransaction", ["first"], { timeoutMs: 100 });
  await waitFor("the validator has one request", () => stub.bodies.length === 1);
  const second = ask("debug_traceTransaction", ["second"], { timeoutMs: 100 });
  const third = ask("debug_traceTransaction", ["third"]);
  t.strictSame(await Promise.all([first, second]), ["overdue", "unavailable"]);
  t.equal(stub.bodies.length, 1, "the validator still works on the first, so its place is taken");
  gate.open();
  t.match(await third, /third/);
  t.strictSame(
    stub.bodies.map((body) => callsOf(body).calls[0]?.params[0]),
    ["first", "third"],
  );
});

t.test("a credential in an address becomes a header, and is shown nowhere", async (t) => {
  let authorization: string | undefined;
  const stub = await startStubValidator(t, {
    answer: (body, response, request) => {
      authorization = request.headers.authorization;
      return echo(body, response, request);
    },
  });
  const { ask, pool } = startPool(t, [stub.url.replace("http://", "http://user:pa%3Ass@")]);
  t.match(await ask("web3_sha3", ["x"]), /result/);
  t.equal(authorization, `Basic ${Buffer.from("user:pa:ss").toString("base64")}`);
  t.notMatch(JSON.stringify(pool.status()), /user|pa%3Ass|pa:ss/);
});
