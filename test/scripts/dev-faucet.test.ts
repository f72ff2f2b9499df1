import t from "tap";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { claimant, claimConfirmed, claimOf, postClaim } from "./dev-claims.ts";
import { coreKey, startDev, startedDev } from "./dev-rig.ts";

t.jobs = 3;

t.test("npm start brings the faucet, behind the gateway too, and a second start resumes it", async (t) => {
  const folder = testFolder(t);
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
  const before = BigInt(String(await first.chain("eth_getBalance", [claimant, "latest"])));

  const url = `http://127.0.0.1:${first.ports.gateway}/faucet/claim`;
  const { status, claim } = await postClaim(url, { "X-API-Key": coreKey });
  t.equal(status, 202);
  await claimConfirmed(first, claim?.id);
  const after = BigInt(String(await first.chain("eth_getBalance", [claimant, "latest"])));
  t.equal(after - before, 10n ** 19n);

  first.signal("SIGINT");
  t.same(await first.ended, { code: 0, signal: null });
  t.match(first.printed(), /faucet {3}│ .*stopped/, "it could end in order");
  const second = await startedDev(t, { folder });
  t.match(await claimOf(second, claim?.id), { status: 200, claim: { status: "confirmed" } });
  t.match(await postClaim(`http://127.0.0.1:${second.ports.faucet}/claim`), {
    status: 429,
    code: "rate_limited",
  });
});

t.test("--reset makes a new chain, which the faucet takes though its Redis stays", async (t) => {
  const [folder, redis] = [testFolder(t), await startRedis(t)];
  const env = { REDIS_URL: redis.url };
  const first = await startedDev(t, { folder, env });
  const { claim } = await postClaim(`http://127.0.0.1:${first.ports.faucet}/claim`);
  await claimConfirmed(first, claim?.id);
  first.signal("SIGINT");
  await first.ended;
  const second = await startedDev(t, { folder, env, args: ["--reset"] });
  t.match(
    await postClaim(`http://127.0.0.1:${second.ports.faucet}/claim`),
    { status: 202 },
    "may claim anew",
  );
});

t.test("a faucet's configuration that cannot be used is refused before anything starts", async (t) => {
  const folder = testFolder(t, {
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
