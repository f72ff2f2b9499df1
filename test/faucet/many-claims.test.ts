import t from "tap";
import { startAnvil } from "../helpers/anvil.ts";
import { startRedis } from "../helpers/redis.ts";
import { eventually } from "./support/eventually.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { readPayments } from "./support/read-payments.ts";
import { startFaucet } from "./support/start-faucet.ts";

const claims = 500;

t.test("500 claims at once by 500 addresses are all paid, each once", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t, { blockTimeSeconds: 0.25 })]);
  const addresses = Array.from({ length: claims }, randomAddress);
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: addresses.map((address) => ({ address })),
  });
  const answers = await Promise.all(addresses.map((address) => faucet.claim({ address, website: "" })));
  t.equal(answers.filter(({ status }) => status === 202).length, claims);
  await eventually(
    "nothing waits",
    async () => {
      const { waiting, underWay } = JSON.parse((await faucet.get("/status")).text);
      return waiting + underWay === 0;
    },
    { withinMs: 60_000 },
  );
  const ended = await Promise.all(answers.map(({ json }) => faucet.ended(json.claim.id)));
  t.equal(ended.filter(({ status }) => status === "confirmed").length, claims);

  const payments = await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 });
  t.same(
    payments.map(({ nonce }) => nonce),
    Array.from({ length: claims }, (_, nonce) => nonce),
  );
  t.same(
    payments.map(({ to, claimId }) => `${to} ${claimId}`).sort(),
    ended.map(({ address, id }) => `${address.toLowerCase()} ${id}`).sort(),
  );
});
