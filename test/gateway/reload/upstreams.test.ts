import t from "tap";
import { echoMethod, startStubValidator } from "../../fakes/stub-validator.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startReloadable } from "./reload-rig.ts";

const call = { jsonrpc: "2.0", id: 1, method: "net_version" };
const answered = { status: 200, json: { jsonrpc: "2.0", id: 1, result: "net_version" } };

t.test("a validator that is added gets calls, one that is taken out gets none any more", async (t) => {
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => startStubValidator(t)));
  if (one === undefined || two === undefined || three === undefined) throw new Error("no stubs");
  const { gateway, write, reload } = await startReloadable(t, { upstreams: [one.url, two.url] });
  const named = (...stubs: (typeof one)[]) => ({
    upstreams: stubs.map(({ url, port }) => ({ name: `node-${port}`, url })),
  });
  write(named(two, three));
  const { body } = await reload();
  t.equal(body.outcome, "changed");
  t.match(body.changes, [
    { path: `upstreams.node-${two.port}`, to: two.url },
    { path: `upstreams.node-${three.port}`, to: three.url },
    { path: "upstreams.validator-1", from: one.url },
    { path: "upstreams.validator-2", from: two.url },
  ]);
  const seen = one.bodies.length;
  await waitFor("the new one has calls", async () => {
    t.match(await gateway.post(call), answered);
    return three.bodies.length > 0;
  });
  t.equal(one.bodies.length, seen);
  const { validators }: { validators: { label: string }[] } = JSON.parse(
    await (await fetch(`${gateway.opsUrl}/status`)).text(),
  );
  t.same(
    validators.map(({ label }) => label),
    [`node-${two.port}`, `node-${three.port}`],
  );
  const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
  t.match(metrics, `tollgate_gateway_validator_in_use{validator="node-${three.port}"} 1`);
  t.notMatch(metrics, 'validator="validator-1"');
});

/** It runs the EVM: no second validator is asked because the first is a little late. */
const run = { jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to: `0x${"22".repeat(20)}` }, "latest"] };

t.test("a validator that is taken out answers the calls that it has", async (t) => {
  const [leaving, staying] = await Promise.all([startStubValidator(t), startStubValidator(t)]);
  const { gateway, write, reload } = await startReloadable(t, { upstreams: [leaving.url] });
  const held: (() => void)[] = [];
  leaving.answerWith(async (body, response, request) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return echoMethod(body, response, request);
  });
  const asked = [1, 2, 3].map(() => gateway.post(run));
  await waitFor("they are out at it", () => held.length === 3);
  write({ upstreams: [{ name: "staying", url: staying.url }] });
  t.equal((await reload()).body.outcome, "changed");
  t.match(await gateway.post(call), answered, "the only other one was not known before");
  t.equal(staying.bodies.length, 1);
  t.notMatch(gateway.logLines.join(""), "validator removed");
  for (const answer of held) answer();
  for (const answer of await Promise.all(asked))
    t.match(answer, { status: 200, json: { result: "eth_call" } });
  t.equal(staying.bodies.length, 1, "none was asked twice");
  await waitFor("it is let go", () => gateway.logLines.join("").includes("validator removed"));
});

t.test(
  "a validator that is taken out and answers nothing any more: its calls go to another one",
  async (t) => {
    const [leaving, staying] = await Promise.all([startStubValidator(t), startStubValidator(t)]);
    const { gateway, write, reload } = await startReloadable(t, { upstreams: [leaving.url] });
    let isAsked = false;
    leaving.answerWith(() => {
      isAsked = true;
      return new Promise(() => {});
    });
    const asked = gateway.post(call);
    await waitFor("it is asked", () => isAsked);
    write({ upstreams: [{ name: "staying", url: staying.url }] });
    t.equal((await reload()).body.outcome, "changed");
    await leaving.stop();
    t.match(await asked, answered);
    await waitFor("it is let go", () => gateway.logLines.join("").includes("validator removed"));
  },
);

t.test("thousands of calls while the validators are replaced twenty times: none is lost", async (t) => {
  const stubs = await Promise.all([1, 2, 3, 4].map(() => startStubValidator(t)));
  const { gateway, write, reload } = await startReloadable(t, {
    upstreams: stubs.slice(0, 2).map(({ url }) => url),
  });
  let isOver = false;
  let count = 0;
  const lost: unknown[] = [];
  const clients = [...Array(16).keys()].map(async () => {
    while (!isOver) {
      const { status, json } = await gateway.post(call);
      count += 1;
      if (status !== 200) lost.push(json);
    }
  });
  for (let swap = 1; swap <= 20; swap += 1) {
    const enough = count + 100;
    while (count < enough && lost.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    // One after the other, two by two, and all at once.
    const first = swap % 3 === 0 ? swap % 4 : (swap * 2) % 4;
    const chosen = [stubs[first], stubs[(first + 1) % 4]].filter((stub) => stub !== undefined);
    write({ upstreams: chosen.map(({ url }, place) => ({ name: `${swap}-${place}`, url })) });
    t.equal((await reload()).body.outcome, "changed");
  }
  isOver = true;
  await Promise.all(clients);
  t.same(lost, []);
  t.comment(`${count} calls`);
  t.ok(count >= 2000);
});

t.test("more validators than can be asked at once are refused, and all goes on", async (t) => {
  const stub = await startStubValidator(t);
  const { gateway, write, reload } = await startReloadable(t, { upstreams: [stub.url] });
  write({
    upstreams: [...Array(31).keys()].map((index) => ({
      name: `n${index}`,
      url: `http://127.0.0.1:${index + 1}`,
    })),
  });
  t.match(await reload(), { status: 409, body: { problems: [/^upstreams: at most 30 validators/] } });
  t.match(await gateway.post(call), answered);
});

t.test("a weight changes in place, and a validator becomes a replica", async (t) => {
  const [one, two] = await Promise.all([startStubValidator(t), startStubValidator(t)]);
  const { gateway, write, reload } = await startReloadable(t, { upstreams: [one.url, two.url] });
  const placed = (more: object) => ({
    upstreams: [
      { name: "validator-1", url: one.url },
      { name: "validator-2", url: two.url, ...more },
    ],
  });
  const standing = async () => {
    const text = await (await fetch(`${gateway.opsUrl}/status`)).text();
    const { validators }: { validators: { label: string; weight: number; role: string }[] } =
      JSON.parse(text);
    return validators.find(({ label }) => label === "validator-2");
  };
  t.match(await standing(), { weight: 1, role: "validator" });
  write(placed({ weight: 0 }));
  t.match((await reload()).body, {
    outcome: "changed",
    changes: [{}, {}, {}, { path: "upstreams.validator-2" }],
  });
  t.match(await standing(), { weight: 0, role: "validator" });
  t.notMatch(gateway.logLines.join(""), "validator is drained", "it is the same one");
  const seen = two.bodies.filter((body) => body.includes(call.method)).length;
  for (let asked = 0; asked < 20; asked += 1) t.match(await gateway.post(call), answered);
  t.equal(two.bodies.filter((body) => body.includes(call.method)).length, seen, "no read goes there");
  write(placed({ weight: 5, role: "replica" }));
  t.equal((await reload()).body.outcome, "changed");
  t.match(await standing(), { weight: 5, role: "replica" });
  await waitFor("reads go there", async () => {
    t.match(await gateway.post(call), answered);
    return two.bodies.filter((body) => body.includes(call.method)).length > seen;
  });
});
