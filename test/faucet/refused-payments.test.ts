import t, { type Test } from "tap";
import { errorTable } from "../../lib/errors.ts";
import { faucetClaimKey, faucetLimitKey } from "../../lib/redis/keys/faucet.ts";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { startRefusingNode, type Verdict } from "./support/refusing-node.ts";
import { startFaucet } from "./support/start-faucet.ts";

const toFaucet = faucetAddress.toLowerCase();

/**
 * A faucet before a node that does with payments to the first of two addresses what `payment` says, and with transactions
 * to the faucet itself what `filler` says.
 */
async function startRig(
  t: Test,
  { giveUpAfterMs, blockTimeSeconds = 0.1 }: { giveUpAfterMs: number; blockTimeSeconds?: number | "none" },
) {
  const [redis, anvil] = await Promise.all([
    startRedis(t),
    startAnvil(t, blockTimeSeconds === "none" ? {} : { blockTimeSeconds }),
  ]);
  const client = await connectAdmin(t, redis.url);
  const [first, second] = [randomAddress(), randomAddress()];
  const rig: { payment: () => Verdict; filler: Verdict } = { payment: () => "refused", filler: "taken" };
  const node = await startRefusingNode(t, {
    nodeUrl: anvil.url,
    judge: ({ to }) => (to === first ? rig.payment() : to === faucetAddress ? rig.filler : "taken"),
  });
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: node.url,
    allowlist: [{ address: first }, { address: second }],
    change: (config) => ({ ...config, giveUpAfterMs, resendAfterMs: 100 }),
  });
  const opsStatus = () => fetch(`${faucet.opsUrl}/status`).then((response) => response.text());
  return {
    anvil,
    client,
    faucet,
    first,
    second,
    rig,
    opsStatus,
    claim: async (address: string) => (await faucet.claim({ address, website: "" })).json.claim.id,
    view: async (id: string) => JSON.parse((await faucet.get(`/claims/${id}`)).text).claim,
    isRefused: async () => (await opsStatus()).includes("refuses a payment: Sender account not authorized"),
    isGivenUp: () => faucet.logLines.some((line) => line.includes("it is given up")),
    paid: async () =>
      (await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).map(({ to, nonce, claimId }) => ({
        to,
        nonce,
        claimId,
      })),
  };
}

t.test("a refusal that passes: the same bytes are broadcast again, and paid", async (t) => {
  const { faucet, first, rig, claim, view, isRefused, paid } = await startRig(t, { giveUpAfterMs: 60_000 });
  const id = await claim(first);
  await waitFor("refused", isRefused);
  const { txHash } = await view(id);
  rig.payment = () => "taken";
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
    await waitFor("refused", isRefused);
    const next = await claim(second);
    t.match(await faucet.ended(id), {
      status: "refused",
      reason: "The network does not take the transaction",
    });
    t.match(await faucet.ended(next), { status: "confirmed" });
    t.same(
      await paid(),
      [
        { to: toFaucet, nonce: 0, claimId: undefined },
        { to: second.toLowerCase(), nonce: 1, claimId: next },
      ],
      "its nonce paid nobody",
    );
    t.equal(await client.zcard(faucetLimitKey(`address:${first.toLowerCase()}`)), 0);
    t.equal(await client.zcard(faucetLimitKey("all")), 1);
  },
);

t.test("a payment that was given up, and mined after all: its claim is confirmed", async (t) => {
  const { anvil, client, faucet, first, rig, claim, isGivenUp, paid } = await startRig(t, {
    giveUpAfterMs: 500,
  });
  rig.filler = "refused";
  const id = await claim(first);
  await waitFor("given up", isGivenUp);
  await anvil.rpc("eth_sendRawTransaction", [await client.hget(faucetClaimKey(id), "raw")]);
  const ended = await faucet.ended(id);
  t.match(ended, { status: "confirmed" });
  t.equal(ended.reason, undefined);
  t.same(await paid(), [{ to: first.toLowerCase(), nonce: 0, claimId: id }]);
});

t.test("what is broadcast instead of a payment outbids it in a pool that holds it after all", async (t) => {
  const { anvil, client, faucet, first, rig, claim, isGivenUp, paid } = await startRig(t, {
    giveUpAfterMs: 500,
  });
  rig.filler = "refused";
  const id = await claim(first);
  await waitFor("given up", isGivenUp);
  await anvil.rpc("evm_setIntervalMining", [0]);
  await anvil.rpc("eth_sendRawTransaction", [await client.hget(faucetClaimKey(id), "raw")]);
  rig.filler = "taken";
  await waitFor("outbid", async () => {
    const pending = await anvil.rpc("txpool_content");
    return JSON.stringify(pending).toLowerCase().includes(`"to":"${toFaucet}"`);
  });
  await anvil.rpc("evm_mine");
  t.match(await faucet.ended(id), { status: "refused" });
  t.same(await paid(), [{ to: toFaucet, nonce: 0, claimId: undefined }]);
});

t.test("outages, stalls and what a gateway says in a node's place are no refusals", async (t) => {
  const { faucet, first, rig, claim, view, isGivenUp, paid } = await startRig(t, { giveUpAfterMs: 100 });
  const ofGateway = ({ code, rpcCode, meaning }: (typeof errorTable)[keyof typeof errorTable]) => ({
    error: { code: rpcCode, message: meaning, data: { code } },
  });
  const json = (error: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, error });
  const answers: readonly Verdict[] = [
    ofGateway(errorTable.upstream_unavailable),
    ofGateway(errorTable.network_stalled),
    ofGateway(errorTable.rate_limited),
    ofGateway(errorTable.internal_error),
    { error: { code: -32603, message: "Internal error" } },
    { error: { code: -32000, message: "Transaction pool is full" } },
    { error: { code: -32603, message: "Timeout expired" } },
    // With words that a node could have said, but not with this status.
    { status: 503, body: json({ code: -32000, message: "Upfront cost exceeds account balance" }) },
    { status: 502, body: "<html>Bad gateway</html>" },
    "connection lost",
  ];
  const left = [...answers, ...answers];
  let broadcasts = 0;
  rig.payment = () => {
    broadcasts += 1;
    return left.shift() ?? "taken";
  };
  const id = await claim(first);
  await waitFor("signed", async () => (await view(id)).txHash !== null);
  const { txHash } = await view(id);
  t.match(await faucet.ended(id), { status: "confirmed", txHash });
  t.equal(broadcasts, 2 * answers.length + 1);
  t.notOk(isGivenUp());
  t.notOk(faucet.logLines.some((line) => line.includes("the node refuses a payment")));
  t.same(await paid(), [{ to: first.toLowerCase(), nonce: 0, claimId: id }]);
});

t.test("a base fee above the price: payments wait and say why, and are paid when it falls", async (t) => {
  const { anvil, faucet, first, second, rig, claim, view, isGivenUp, opsStatus, paid } = await startRig(t, {
    giveUpAfterMs: 100,
    blockTimeSeconds: "none",
  });
  const mineAt = async (baseFeeWei: bigint) => {
    await anvil.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${baseFeeWei.toString(16)}`]);
    await anvil.rpc("evm_mine");
  };
  const underpriced: Verdict = {
    error: { code: -32003, message: "max fee per gas less than block base fee" },
  };
  let broadcasts = 0;
  rig.payment = () => {
    broadcasts += 1;
    return underpriced;
  };
  const id = await claim(first);
  await waitFor("broadcast", () => broadcasts > 0);
  const { txHash } = await view(id);
  for (let block = 0; block < 5; block += 1) {
    await mineAt(5_000_000_000n);
    const before = broadcasts;
    if (block % 2 === 0) await waitFor("broadcast again", () => broadcasts > before);
  }
  await waitFor("said", async () => (await opsStatus()).includes("base fee is above"));
  t.match(JSON.parse((await faucet.get("/status")).text), { paymentsWait: /base fee is above/ });
  const next = await claim(second);
  t.notOk(isGivenUp());
  t.match(await view(next), { txHash: null }, "nothing further is signed meanwhile");
  rig.payment = () => "taken";
  await mineAt(0n);
  t.match(await faucet.ended(id), { status: "confirmed", txHash });
  t.match(await faucet.ended(next), { status: "confirmed" });
  await waitFor("said no more", async () =>
    (await faucet.get("/status")).text.includes('"paymentsWait":null'),
  );
  t.equal((await paid()).length, 2);
});
