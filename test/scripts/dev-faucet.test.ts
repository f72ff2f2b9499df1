import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { z } from "zod";
import { startRedis } from "../helpers/redis.ts";
import { coreKey, type DevUnderTest, startDev, startedDev } from "./dev-rig.ts";

t.setTimeout(120_000);
t.jobs = 3;

/** On the shipped allowlist. */
const address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const answer = z.object({
  status: z.number(),
  claim: z.object({ id: z.string(), status: z.string() }).optional(),
  code: z.string().optional(),
});

t.test("npm start brings the faucet, behind the gateway too, and a second start resumes it", async (t) => {
  const folder = t.testdir();
  const first = await startedDev(t, { folder });
  t.match(first.printed(), new RegExp(`faucet +http://127\\.0\\.0\\.1:${first.ports.faucet}/`));
  t.match(first.printed(), /faucet {3}│ .*faucet is up/, "its lines are told from others'");
  t.match(await fetch(`http://127.0.0.1:${first.ports.faucetOps}/readyz`), { status: 200 });
  t.match(
    await fetch(`http://127.0.0.1:${first.ports.faucetOps}/status`).then((response) => response.json()),
    { redisDoubt: null },
    "its claims are in a Redis that writes at once",
  );
  t.match(first.printed(), /redis-faucet +redis:.*\.data\/redis-faucet/);
  const before = BigInt(String(await first.chain("eth_getBalance", [address, "latest"])));

  const url = `http://127.0.0.1:${first.ports.gateway}/faucet/claim`;
  const { status, claim } = await post(url, { "X-API-Key": coreKey });
  t.equal(status, 202);
  await confirmed(first, claim?.id);
  const after = BigInt(String(await first.chain("eth_getBalance", [address, "latest"])));
  t.equal(after - before, 10n ** 19n);

  first.signal("SIGINT");
  t.same(await first.ended, { code: 0, signal: null });
  t.match(first.printed(), /faucet {3}│ .*stopped/, "it could end in order");
  const second = await startedDev(t, { folder });
  t.match(await claimOf(second, claim?.id), { status: 200, claim: { status: "confirmed" } });
  t.match(await post(`http://127.0.0.1:${second.ports.faucet}/claim`), { status: 429, code: "rate_limited" });
});

t.test("--reset makes a new chain, which the faucet takes though its Redis stays", async (t) => {
  const [folder, redis] = [t.testdir(), await startRedis(t)];
  const env = { REDIS_URL: redis.url };
  const first = await startedDev(t, { folder, env });
  const { claim } = await post(`http://127.0.0.1:${first.ports.faucet}/claim`);
  await confirmed(first, claim?.id);
  first.signal("SIGINT");
  await first.ended;
  const second = await startedDev(t, { folder, env, args: ["--reset"] });
  t.match(await post(`http://127.0.0.1:${second.ports.faucet}/claim`), { status: 202 }, "may claim anew");
});

t.test("a faucet's configuration that cannot be used is refused before anything starts", async (t) => {
  const folder = t.testdir({
    "own-redis.yaml": "redis: redis://192.0.2.1\nwallet:\n  keystoreFile: x\n",
    "no-wallet.yaml": `redis: \${REDIS_URL}\nupstream: \${FAUCET_UPSTREAM}\n`,
  });
  for (const [file, says] of [
    ["own-redis.yaml", /own-redis\.yaml: redis: .* and upstream: .* were expected/],
    ["no-wallet.yaml", /no-wallet\.yaml:\d+: wallet: /],
    ["none.yaml", /none\.yaml: cannot be read/],
  ] as const) {
    const dev = await startDev(t, { folder, args: ["--faucet", file] });
    t.match(await dev.ended, { code: 2 });
    t.match(dev.printed(), says);
  }
});

async function post(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ address, website: "" }),
  });
  return answer.parse({ ...z.looseObject({}).parse(await response.json()), status: response.status });
}

async function claimOf(dev: DevUnderTest, id = "") {
  const response = await fetch(`http://127.0.0.1:${dev.ports.faucet}/claims/${id}`);
  return answer.parse({ ...z.looseObject({}).parse(await response.json()), status: response.status });
}

async function confirmed(dev: DevUnderTest, id: string | undefined): Promise<void> {
  while ((await claimOf(dev, id)).claim?.status !== "confirmed") await sleep(100);
}
