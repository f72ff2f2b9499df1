import t, { type Test } from "tap";
import type { LieKind } from "../fakes/validators/lies.ts";
import { developmentWallet } from "../fakes/validators/rpc.ts";
import { startValidators, type Validators } from "../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

const redis = await startRedis(t);
const { address } = developmentWallet(1);
/** What a liar's state says. */
const falseState = "0xbad0";

async function startBoth(t: Test, options: { count?: number } = {}) {
  const cluster = await startValidators(t, options);
  await cluster.mine(5);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls });
  await waitFor("the head is announced", async () => (await head(gateway)) === 5);
  return { cluster, gateway };
}

async function result(gateway: GatewayUnderTest, method: string, params: unknown[] = []): Promise<unknown> {
  const { json } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  return Object(json).result;
}

const head = async (gateway: GatewayUnderTest) => Number(await result(gateway, "eth_blockNumber"));

type Ready = { ready: boolean; degraded: boolean; reasons: string[] };
async function readyz({ opsUrl }: GatewayUnderTest): Promise<Ready> {
  const answer: Ready = JSON.parse(await (await fetch(`${opsUrl}/readyz`)).text());
  return answer;
}

type Status = {
  chain: { epoch: { number: number }; waiting: { number: number; validators: string[] }[] };
  validators: { outside: string | null; why: string | null; eligible: boolean }[];
};
async function statusOf({ opsUrl }: GatewayUnderTest): Promise<Status> {
  const answer: Status = JSON.parse(await (await fetch(`${opsUrl}/status`)).text());
  return answer;
}

async function metricLines({ opsUrl }: GatewayUnderTest, name: string): Promise<string[]> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  return text.split("\n").filter((line) => line.startsWith(name));
}

/** So many reads of the latest state, of which none may be the liar's. */
async function readsTheTruth(gateway: GatewayUnderTest, cluster: Validators, reads = 24): Promise<boolean> {
  for (let read = 0; read < reads; read += 1) {
    const number = await head(gateway);
    if (number > cluster.height()) return false;
    const block = Object(await result(gateway, "eth_getBlockByNumber", ["latest", false]));
    if (block.hash !== cluster.block(Number(block.number))?.hash) return false;
    if ((await result(gateway, "eth_getBalance", [address, "latest"])) === falseState) return false;
  }
  return true;
}

const expected: Record<LieKind, { outside: RegExp; reason: RegExp }> = {
  next: { outside: /^(alone|another_block)$/, reason: /nobody else has its block|another block/ },
  jump: { outside: /^alone$/, reason: /nobody else has its block 5005/ },
  fork: { outside: /^another_block$/, reason: /it has another block 5/ },
  branch: { outside: /^(alone|another_block)$/, reason: /nobody else has its block|another block/ },
};

const kinds: readonly LieKind[] = ["next", "jump", "fork", "branch"];
for (const kind of kinds) {
  t.test(
    `one of five lies (${kind}): no read is the liar's, and it is named until it is healed`,
    async (t) => {
      const { cluster, gateway } = await startBoth(t);
      cluster.validator(3).lie(kind);
      await waitFor("the liar is named", async () => (await readyz(gateway)).degraded);
      t.match(await readyz(gateway), { ready: true, reasons: [/^validator-4 is not asked: /] });
      t.match((await readyz(gateway)).reasons[0], expected[kind].reason);
      t.ok(await readsTheTruth(gateway, cluster), "while the chain stands");
      for (let block = 0; block < 3; block += 1) {
        await cluster.mine(1);
        await waitFor("the chain goes on", async () => (await head(gateway)) === cluster.height());
        t.ok(await readsTheTruth(gateway, cluster, 8));
      }
      const { chain, validators } = await statusOf(gateway);
      t.match(validators[3], { outside: expected[kind].outside, eligible: false });
      t.same(
        validators.map(({ outside }) => outside).filter((outside) => outside === null).length,
        4,
        "nobody else is",
      );
      t.equal(chain.epoch.number, 1);
      t.match(await metricLines(gateway, "tollgate_gateway_validator_outside{"), [
        /validator="validator-4",.* 1$/,
      ]);
      t.ok(
        gateway.logLines.some(
          (line) => line.includes('"validator":"validator-4"') && line.includes('"level":40'),
        ),
      );
      // Who told another block than the announced one is not asked for ten seconds more.
      if (kind !== "jump") return;
      await cluster.validator(3).heal();
      await cluster.mine(1);
      await waitFor("all is well", async () => !(await readyz(gateway)).degraded);
      t.equal((await statusOf(gateway)).validators[3]?.outside, null);
      t.same(await metricLines(gateway, "tollgate_gateway_validator_outside{"), []);
    },
  );
}

t.test("a block that one alone tells waits, and /status and a metric say so", async (t) => {
  const { cluster, gateway } = await startBoth(t);
  cluster.validator(0).lie("branch");
  await waitFor("it waits", async () => (await statusOf(gateway)).chain.waiting.length === 1);
  t.match((await statusOf(gateway)).chain.waiting, [{ number: 6, validators: ["validator-1"] }]);
  t.same(await metricLines(gateway, "tollgate_gateway_heads_waiting"), ["tollgate_gateway_heads_waiting 1"]);
  t.equal(await head(gateway), 5);
});

t.test(
  "one of two that tells another chain changes nothing: what was announced stays, and it is named",
  async (t) => {
    const { cluster, gateway } = await startBoth(t, { count: 2 });
    cluster.validator(1).lie("fork");
    await waitFor("it is named", async () => (await readyz(gateway)).degraded);
    t.match((await readyz(gateway)).reasons, [/^validator-2 is not asked: it has another block/]);
    await cluster.mine(1);
    await waitFor("the other one goes on", async () => (await head(gateway)) === 6);
    t.ok(await readsTheTruth(gateway, cluster, 8));
  },
);

t.test("a liar that was alone for a while is given up when two others are back", async (t) => {
  const { cluster, gateway } = await startBoth(t);
  for (const index of [1, 2, 3, 4]) await cluster.validator(index).die();
  cluster.validator(0).lie("branch");
  await waitFor("nobody else answers: it is believed", async () => (await head(gateway)) === 6);
  t.equal(await result(gateway, "eth_getBalance", [address, "latest"]), falseState);
  for (const index of [1, 2, 3, 4]) await cluster.validator(index).comeBack();
  await cluster.mine(2);
  await waitFor("the others are believed", async () => (await head(gateway)) === cluster.height());
  t.ok(await readsTheTruth(gateway, cluster));
  await waitFor("the liar is named", async () =>
    (await readyz(gateway)).reasons.some((reason) => reason.startsWith("validator-1 is not asked")),
  );
  t.match(await statusOf(gateway), { chain: { epoch: { number: 2 } } });
});
