import t from "tap";
import { faucetLeaderKey } from "../../lib/redis/keys/faucet.ts";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { startCutProxy } from "../fakes/cut-proxy.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { startFaucet } from "./support/start-faucet.ts";

t.test("two replicas", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const addresses = Array.from({ length: 12 }, randomAddress);
  const options = {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: addresses.map((address) => ({ address })),
  };
  const [one, two] = [await startFaucet(t, options), await startFaucet(t, options)];
  const paidTo = async (address: string | undefined) =>
    (await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).filter(
      ({ to }) => to === address?.toLowerCase(),
    ).length;

  t.test("claims of one address at the same instant: one is taken and paid", async (t) => {
    for (const address of addresses.slice(0, 5)) {
      const answers = await Promise.all(
        [one, two, one, two].map((faucet) => faucet.claim({ address, website: "" })),
      );
      t.same(answers.map(({ status }) => status).sort(), [202, 429, 429, 429]);
      const id = answers.find(({ status }) => status === 202)?.json.claim.id ?? "";
      t.match(await two.ended(id), { status: "confirmed" });
      t.equal(await paidTo(address), 1);
    }
  });

  t.test("claims with one Idempotency-Key at the same instant: one claim answers all", async (t) => {
    const address = addresses[5];
    const answers = await Promise.all(
      [one, two, one, two].map((faucet) =>
        faucet.claim({ address, website: "" }, { headers: { "Idempotency-Key": "the-same" } }),
      ),
    );
    t.same(
      answers.map(({ status }) => status),
      [202, 202, 202, 202],
    );
    t.equal(new Set(answers.map(({ json }) => json.claim.id)).size, 1);
    await one.ended(answers[0]?.json.claim.id ?? "");
    t.equal(await paidTo(address), 1);
  });

  t.test("one of them pays; when it stops, the other one takes over", async (t) => {
    const isLeader = async ({ opsUrl }: typeof one) =>
      (await fetch(`${opsUrl}/status`).then((response) => response.text())).includes('"leader": true');
    const leaders = await Promise.all([one, two].map(isLeader));
    t.equal(leaders.filter(Boolean).length, 1);
    const [stopping, staying] = leaders[0] ? [one, two] : [two, one];
    await stopping.stop();
    const { json } = await staying.claim({ address: addresses[6], website: "" });
    t.match(await staying.ended(json.claim.id), { status: "confirmed" });
    t.ok(await isLeader(staying));
  });
});

t.test("a leader that was taken for dead and comes back signs nothing", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const [first, second] = [randomAddress(), randomAddress()];
  const options = {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: [{ address: first }, { address: second }],
  };
  let goOn = () => {};
  let isHeld = false;
  const slow = await startFaucet(t, {
    ...options,
    async atPoint(point) {
      if (point !== "before sign" || isHeld) return;
      isHeld = true;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    },
  });
  const { json } = await slow.claim({ address: first, website: "" });
  await waitFor("held before the signature is stored", () => isHeld);
  const other = await startFaucet(t, options);
  // The lock ends, as that of a process that stands still does.
  const client = await connectAdmin(t, redis.url);
  await client.del(faucetLeaderKey);
  t.match(await other.ended(json.claim.id), { status: "confirmed" });
  const next = await other.claim({ address: second, website: "" });
  goOn();
  t.match(await other.ended(next.json.claim.id), { status: "confirmed" });
  await waitFor("noticed", () => slow.logLines.some((line) => line.includes("another replica has become")));
  const payments = await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 });
  t.same(
    payments.map(({ to, nonce }) => [to, nonce]),
    [
      [first.toLowerCase(), 0],
      [second.toLowerCase(), 1],
    ],
  );
});

t.test("a leader that does not reach the chain hands over to a replica that does", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const proxy = await startCutProxy(t, { port: anvil.port });
  const address = randomAddress();
  const options = { redisUrl: redis.url, allowlist: [{ address }] };
  const leading = await startFaucet(t, { ...options, upstream: proxy.url });
  const other = await startFaucet(t, { ...options, upstream: anvil.url });
  proxy.set("cut");
  const { json } = await leading.claim({ address, website: "" });
  t.match(await other.ended(json.claim.id), { status: "confirmed" });
  t.ok(
    leading.logLines.some((line) => line.includes("payments wait")),
    "it had tried",
  );
});

t.test("a round that lasts longer than the lock keeps it", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const address = randomAddress();
  let isSlow = true;
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: [{ address }],
    // Renewed each third of it: a busy machine may hold a renewal up for half a second.
    change: (config) => ({ ...config, leaderMs: 1000 }),
    async atPoint(point) {
      // Longer than two and a half terms of the lock.
      if (point === "before sign" && isSlow) await new Promise((resolve) => setTimeout(resolve, 2500));
      isSlow = point !== "before sign" && isSlow;
    },
  });
  const { json } = await faucet.claim({ address, website: "" });
  t.match(await faucet.ended(json.claim.id), { status: "confirmed" });
  t.notOk(faucet.logLines.some((line) => line.includes("another replica has become")));
});
