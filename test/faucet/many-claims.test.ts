import t from "tap";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { type FaucetUnderTest, startFaucet } from "./support/start-faucet.ts";

const claims = 500;
/** On a busy machine five hundred at once are refused with 503 for a while. */
const takenWithinMs = 120_000;

t.test("500 claims at once by 500 addresses are all paid, each once", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t, { blockTimeSeconds: 0.25 })]);
  const addresses = Array.from({ length: claims }, randomAddress);
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: addresses.map((address) => ({ address })),
  });
  const ids = await Promise.all(addresses.map((address) => claimUntilTaken(faucet, address)));
  await waitFor(
    "nothing waits",
    async () => {
      const { waiting, underWay } = JSON.parse((await faucet.get("/status")).text);
      return waiting + underWay === 0;
    },
    { withinMs: 60_000 },
  );
  const ended = await Promise.all(ids.map((id) => faucet.ended(id)));
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

/** As a client does it: where a busy machine answers 503, again with the same Idempotency-Key. */
async function claimUntilTaken(faucet: FaucetUnderTest, address: string): Promise<string> {
  return waitFor(
    `the claim of ${address} is taken`,
    async () => {
      const { status, json } = await faucet.claim({ address }, { headers: { "Idempotency-Key": address } });
      if (status === 202) return json.claim.id;
      if (status !== 503) throw new Error(`refused with ${status}: ${json.detail}`);
      return undefined;
    },
    { withinMs: takenWithinMs, everyMs: 100 },
  );
}
