import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { faucetLimitKey } from "../../lib/redis-keys.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { startRedis } from "../helpers/redis.ts";
import { eventually } from "./support/eventually.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { readPayments } from "./support/read-payments.ts";
import { startRefusingNode, type Verdict } from "./support/refusing-node.ts";
import { startFaucet } from "./support/start-faucet.ts";

/** A faucet before a node that does with payments to the first of two addresses what `verdict` says. */
async function startRig(t: Test, { giveUpAfterMs }: { giveUpAfterMs: number }) {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const client = new Redis(redis.url);
  t.teardown(() => client.disconnect());
  const [first, second] = [randomAddress(), randomAddress()];
  const rig: { verdict: Verdict } = { verdict: "refused" };
  const node = await startRefusingNode(t, {
    nodeUrl: anvil.url,
    judge: ({ to }) => (to === first ? rig.verdict : "taken"),
  });
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: node.url,
    allowlist: [{ address: first }, { address: second }],
    change: (config) => ({ ...config, giveUpAfterMs }),
  });
  return {
    anvil,
    client,
    faucet,
    first,
    second,
    set: (verdict: Verdict) => {
      rig.verdict = verdict;
    },
    claim: async (address: string) => (await faucet.claim({ address, website: "" })).json.claim.id,
    isRefused: () =>
      fetch(`${faucet.opsUrl}/status`)
        .then((response) => response.text())
        .then((text) => text.includes("refuses a payment: sender account not authorized")),
    paid: async () =>
      (await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).map(({ to, nonce, claimId }) => ({
        to,
        nonce,
        claimId,
      })),
  };
}

t.test("a refusal that passes: the same bytes are offered again, and paid", async (t) => {
  const { faucet, first, set, claim, isRefused, paid } = await startRig(t, { giveUpAfterMs: 60_000 });
  const id = await claim(first);
  await eventually("refused", isRefused);
  const { txHash } = JSON.parse((await faucet.get(`/claims/${id}`)).text).claim;
  set("taken");
  t.match(await faucet.ended(id), { status: "confirmed", txHash });
  t.same(await paid(), [{ to: first.toLowerCase(), nonce: 0, claimId: id }]);
});

t.test(
  "a payment that is refused all the time: its claim ends with a reason, counts no more, and lets others pass",
  async (t) => {
    const { client, faucet, first, second, claim, isRefused, paid } = await startRig(t, {
      giveUpAfterMs: 1500,
    });
    const id = await claim(first);
    await eventually("refused", isRefused);
    const next = await claim(second);
    t.match(await faucet.ended(id), {
      status: "refused",
      reason: "The network does not take the transaction",
    });
    t.match(await faucet.ended(next), { status: "confirmed" });
    t.same(
      await paid(),
      [
        { to: faucetAddress.toLowerCase(), nonce: 0, claimId: undefined },
        { to: second.toLowerCase(), nonce: 1, claimId: next },
      ],
      "its nonce paid nobody",
    );
    t.equal(await client.zcard(faucetLimitKey(`address:${first.toLowerCase()}`)), 0);
    t.equal(await client.zcard(faucetLimitKey("all")), 1);
  },
);

t.test("a payment that was given up, and mined after all: its claim is confirmed", async (t) => {
  const { anvil, faucet, first, set, claim, paid } = await startRig(t, { giveUpAfterMs: 500 });
  await anvil.rpc("evm_setAutomine", [false]);
  set("refused, yet taken");
  const id = await claim(first);
  await eventually("given up", () => faucet.logLines.some((line) => line.includes("it is given up")));
  await eventually("its nonce was to be filled", () =>
    faucet.logLines.some((line) => line.includes("underpriced")),
  );
  await anvil.rpc("evm_mine");
  const ended = await faucet.ended(id);
  t.match(ended, { status: "confirmed" });
  t.equal(ended.reason, undefined);
  t.same(await paid(), [{ to: first.toLowerCase(), nonce: 0, claimId: id }]);
});
