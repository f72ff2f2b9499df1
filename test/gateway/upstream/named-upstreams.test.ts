import t from "tap";
import { namedUpstreams, upstreamsText } from "../../../gateway/upstream/named-upstreams.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { qaKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const schema = namedUpstreams({ min: 1, prefix: "validator" });
const [a, b] = ["http://127.0.0.1:8545", "https://user:pw@node.example/rpc?token=x=y"];

t.test("names stand before addresses, or are counted from 1", async (t) => {
  const named = [
    { name: "alpha", url: a },
    { name: "b.2_x-3", url: b },
  ];
  t.same(schema.parse(` alpha=${a} , b.2_x-3=${b},`), named, "one text, as an environment has it");
  t.same(schema.parse([`alpha=${a}`, { name: "b.2_x-3", url: b }]), named, "a list");
  t.same(schema.parse(upstreamsText(named)), named);
  t.same(schema.parse(`${a},${b}`), [
    { name: "validator-1", url: a },
    { name: "validator-2", url: b },
  ]);
  t.same(schema.parse(`mine=${b},${a}`)[1], { name: "validator-2", url: a }, "by its place, named or not");
});

t.test("one may have a weight, and be a replica that follows validators", async (t) => {
  const given = [
    { name: "alpha", url: a, weight: 1, role: "validator" },
    { name: "reader", url: b, weight: 3, role: "replica" },
  ];
  t.same(schema.parse(given), [
    { name: "alpha", url: a },
    { name: "reader", url: b, weight: 3, role: "replica" },
  ]);
});

const refused: Record<string, [unknown, RegExp]> = {
  "no address": ["", /at least one/],
  "another protocol": [`alpha=ws://127.0.0.1:8546`, /an address that begins with/],
  "no address behind a name": ["alpha=", /an address that begins with/],
  "no name before the sign": [`=${a}`, /a name of letters/],
  "a name that a label could not carry": [`al"pha=${a}`, /a name of letters/],
  "a name of 64 characters": [`${"x".repeat(64)}=${a}`, /a name of letters/],
  "an object with more": [[{ name: "x", url: a, wait: 2 }], /"wait"/],
  "a weight below 0": [[{ name: "x", url: a, weight: -1 }], /from 0 to 1000/],
  "half a weight": [[{ name: "x", url: a, weight: 0.5 }], /from 0 to 1000/],
  "a role that there is not": [[{ name: "x", url: a, role: "archive" }], /validator or replica/],
  "replicas alone": [[{ name: "x", url: a, role: "replica" }], /one that is a validator/],
  "a number": [[8545], /an address that begins with/],
  "an address twice": [`x=${a},y=${a}`, /an address stands here twice/],
  "a name twice": [`x=${a},x=${b}`, /a name stands here twice/],
  "a name that is another's by its place": [`validator-2=${a},${b}`, /a name stands here twice/],
};
t.test("what names none is refused in words", async (t) => {
  for (const [title, [value, words]] of Object.entries(refused)) {
    const { error } = schema.safeParse(value);
    t.match(error?.issues[0]?.message, words, title);
  }
});

t.test("a validator has one name in answers, logs, metrics and /status", async (t) => {
  const redis = await startRedis(t);
  const stubs = [await startStubValidator(t), await startStubValidator(t), await startStubValidator(t)];
  const names = ["validator-3", "validator-1", "validator-2"];
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: stubs.map(({ url }, index) => `${names[index]}=${url}`),
  });
  const ask = async () =>
    (await gateway.post({ jsonrpc: "2.0", id: 1, method: "net_version" }, { key: qaKey })).headers.get(
      "x-tollgate-validator",
    ) ?? "";
  const answered = new Set<string>();
  for (let round = 0; round < 60 && answered.size < 3; round += 1) answered.add(await ask());
  t.same([...answered].sort(), names.toSorted(), "who answered, by name");

  const saysOf = (message: string) =>
    gateway.logLines
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ msg }) => msg === message)
      .map(({ validator }) => validator);
  // It goes on telling the head of its blocks, so that it is the pool which notices first.
  stubs[0]?.answerWith((_body, response) => {
    response.destroy();
    return undefined;
  });
  await waitFor("the pool takes it out", async () => {
    await ask();
    return saysOf("validator ejected").length > 0;
  });
  await stubs[0]?.stop();
  await waitFor("the head notices", () => saysOf("validator does not answer").length > 0);
  t.same(saysOf("validator ejected"), ["validator-3"], "by the pool");
  t.same(saysOf("validator does not answer"), ["validator-3"], "and by the head");
  const status = await (await fetch(`${gateway.opsUrl}/status`)).text();
  const { validators }: { validators: { label: string; breaker: string }[] } = JSON.parse(status);
  t.same(
    validators.map(({ label }) => label),
    names,
  );
  const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
  const labels = [...metrics.matchAll(/validator="([^"]*)"/g)].map(([, label]) => label);
  t.same([...new Set(labels)].sort(), names.toSorted(), "and nobody else in any metric");
  t.match(metrics, /^tollgate_gateway_validator_in_use\{validator="validator-3"\} 0/m);
  const port = new RegExp(`"validator":"[^"]*${stubs[0]?.port}`);
  t.notOk(
    gateway.logLines.some((line) => port.test(line)),
    "never by its address",
  );
});
