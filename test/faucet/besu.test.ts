import t, { type Test } from "tap";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { ask } from "../fakes/validators/rpc.ts";
import { startValidators } from "../fakes/validators/start-validators.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress, signOutside } from "./support/outside-wallet.ts";
import { startFaucet } from "./support/start-faucet.ts";

/** A faucet before two validators with Besu's ways; blocks are made by `mine` alone. */
async function startRig(
  t: Test,
  { resendAfterMs = 50, atPoint }: { resendAfterMs?: number; atPoint?: (point: string) => void } = {},
) {
  const [redis, cluster] = await Promise.all([startRedis(t), startValidators(t, { count: 2 })]);
  const address = randomAddress();
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: cluster.validator(0).url,
    allowlist: [{ address }],
    change: (config) => ({ ...config, resendAfterMs }),
    ...(atPoint === undefined ? {} : { atPoint }),
  });
  const anvil = {
    rpc: async (method: string, params: readonly unknown[] = []) => {
      const answer = await cluster.anvil.ask(method, [...params]);
      if ("error" in answer) throw new Error(answer.error.message);
      return answer.result;
    },
  };
  return {
    cluster,
    faucet,
    address,
    validator: cluster.validator(0),
    paid: () => readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 }),
    async claim() {
      const { status, json } = await faucet.claim({ address, website: "" });
      if (status !== 202) throw new Error(`refused: ${JSON.stringify(json)}`);
      return json.claim.id;
    },
    async reaches(id: string, wanted: string) {
      await waitFor(`claim ${wanted}`, async () =>
        (await faucet.get(`/claims/${id}`)).text.includes(`"${wanted}"`),
      );
    },
  };
}

t.test(
  "a transaction at an equal price that replaces a payment: the claim is paid at another nonce, once",
  async (t) => {
    const { cluster, validator, address, claim, reaches, paid, faucet } = await startRig(t, {
      resendAfterMs: 60_000,
    });
    const id = await claim();
    await reaches(id, "broadcast");
    const before = JSON.parse((await faucet.get(`/claims/${id}`)).text).claim.txHash;
    await cluster.gossiped();
    t.match(await ask(validator.url, "eth_sendRawTransaction", [await signOutside({ nonce: 0 })]), {
      result: String,
    });
    await cluster.gossiped();
    t.same(
      await ask(validator.url, "eth_getTransactionByHash", [before]),
      { result: null },
      "the payment is out of the pool",
    );
    await cluster.mine();
    await waitFor("signed again", async () => {
      const { txHash } = JSON.parse((await faucet.get(`/claims/${id}`)).text).claim;
      return txHash !== null && txHash !== before;
    });
    await reaches(id, "broadcast");
    await cluster.gossiped();
    await cluster.mine();
    await reaches(id, "confirmed");
    t.match(await paid(), [
      { to: faucetAddress.toLowerCase(), nonce: 0, claimId: undefined },
      { to: address.toLowerCase(), nonce: 1, claimId: id },
    ]);
  },
);

t.test("a transaction from outside that waits in the pool is not replaced by a payment", async (t) => {
  const { cluster, validator, address, claim, reaches, paid, faucet } = await startRig(t);
  await ask(validator.url, "eth_sendRawTransaction", [await signOutside({ nonce: 0 })]);
  const id = await claim();
  await waitFor("noticed", async () =>
    (await fetch(`${faucet.opsUrl}/status`).then((r) => r.text())).includes("that Redis does not know"),
  );
  t.match(await faucet.get(`/claims/${id}`), { text: /"status":"received"/ });
  await cluster.gossiped();
  await cluster.mine();
  await reaches(id, "broadcast");
  await cluster.gossiped();
  await cluster.mine();
  await reaches(id, "confirmed");
  t.match(await paid(), [
    { to: faucetAddress.toLowerCase(), nonce: 0, claimId: undefined },
    { to: address.toLowerCase(), nonce: 1, claimId: id },
  ]);
});

t.test("Known transaction: the same bytes are broadcast again and again, and paid once", async (t) => {
  const { cluster, validator, claim, reaches, paid, faucet } = await startRig(t);
  const id = await claim();
  await waitFor("broadcast again", () => validator.callsOf("eth_sendRawTransaction") >= 4);
  const sent = validator.calls.bodies.filter((body) => body.includes("eth_sendRawTransaction"));
  t.equal(new Set(sent.map((body) => JSON.parse(body).params[0])).size, 1, "always the same bytes");
  t.notOk(
    faucet.logLines.some((line) => line.includes("refuses")),
    "it counts as taken",
  );
  await cluster.gossiped();
  await cluster.mine();
  await reaches(id, "confirmed");
  t.equal((await paid()).length, 1);
});

t.test(
  "Nonce too low for a payment that was mined unnoticed: it is confirmed, and not paid again",
  async (t) => {
    let isCut = true;
    const { cluster, validator, claim, reaches, paid } = await startRig(t, {
      atPoint(point) {
        if (point === "after send" && isCut) throw new Error("cut short after the send");
      },
    });
    // The receipt is held back, so that the bytes are broadcast once more after they were mined.
    validator.answer("eth_getTransactionReceipt", { result: "null" });
    const id = await claim();
    await waitFor("sent", () => validator.callsOf("eth_sendRawTransaction") >= 1);
    await cluster.gossiped();
    await cluster.mine();
    isCut = false;
    const before = validator.callsOf("eth_sendRawTransaction");
    await waitFor("broadcast again", () => validator.callsOf("eth_sendRawTransaction") > before + 1);
    await validator.heal();
    await reaches(id, "confirmed");
    await cluster.mine(2);
    t.match(await paid(), [{ nonce: 0, claimId: id }]);
  },
);

t.test("a receipt that is missing proves nothing, whoever is behind", async (t) => {
  const { cluster, validator, claim, reaches, paid, faucet } = await startRig(t, { resendAfterMs: 60_000 });
  const id = await claim();
  await reaches(id, "broadcast");
  await cluster.gossiped();
  validator.answer("eth_getTransactionReceipt", { result: "null" });
  validator.answer("eth_getTransactionBySenderAndNonce", { result: "null" });
  await cluster.mine(2);
  const asked = validator.callsOf("eth_getTransactionBySenderAndNonce");
  await waitFor("asked", () => validator.callsOf("eth_getTransactionBySenderAndNonce") > asked + 5);
  t.match(await faucet.get(`/claims/${id}`), { text: /"status":"broadcast"/ });
  validator.lag(1);
  await validator.heal();
  await reaches(id, "confirmed");
  t.match(await paid(), [{ nonce: 0, claimId: id }]);
});

t.test("a node that is a block behind confirms later, and pays no more", async (t) => {
  const { cluster, validator, claim, reaches, paid, faucet } = await startRig(t, { resendAfterMs: 60_000 });
  await cluster.mine(2);
  validator.lag(1);
  const id = await claim();
  await reaches(id, "broadcast");
  await cluster.gossiped();
  await cluster.mine();
  const looks = validator.callsOf("eth_getBalance");
  await waitFor("looked", () => validator.callsOf("eth_getBalance") > looks + 5);
  t.match(await faucet.get(`/claims/${id}`), { text: /"status":"broadcast"/ });
  await cluster.mine();
  await reaches(id, "confirmed");
  t.match(await paid(), [{ nonce: 0, claimId: id }]);
});

t.test("without funds nothing is sent, though a validator would take it; a refill pays", async (t) => {
  const { cluster, validator, claim, reaches, paid, faucet, address } = await startRig(t);
  await cluster.anvil.ask("anvil_setBalance", [faucetAddress, "0x8ac7230489e80000"]);
  await cluster.mine();
  await waitFor("empty", async () =>
    (await faucet.get("/status")).text.includes(`"balance":"${10n ** 19n}"`),
  );
  const { status, headers, json } = await faucet.claim({ address, website: "" });
  t.match({ status, code: json.code }, { status: 503, code: "faucet_empty" });
  t.ok(Number(headers.get("Retry-After")) > 0);
  t.equal(validator.callsOf("eth_sendRawTransaction"), 0);
  await cluster.anvil.ask("anvil_setBalance", [faucetAddress, "0xde0b6b3a7640000000"]);
  await cluster.mine();
  await waitFor("refilled", async () => (await faucet.get("/status")).text.includes('"balance":"4096'));
  const id = await claim();
  await reaches(id, "broadcast");
  await cluster.gossiped();
  await cluster.mine();
  await reaches(id, "confirmed");
  t.equal((await paid()).length, 1);
});

t.test("funds that go while a claim waits: it is paid after the refill", async (t) => {
  const { cluster, validator, claim, reaches, paid, faucet } = await startRig(t);
  // The claim is taken by what was seen of the wallet before.
  validator.status(500);
  await cluster.anvil.ask("anvil_setBalance", [faucetAddress, "0x1"]);
  const id = await claim();
  await validator.heal();
  await cluster.mine();
  await waitFor("short", async () =>
    (await fetch(`${faucet.opsUrl}/status`).then((r) => r.text())).includes("funds"),
  );
  t.equal(validator.callsOf("eth_sendRawTransaction"), 0);
  await cluster.anvil.ask("anvil_setBalance", [faucetAddress, "0xde0b6b3a7640000000"]);
  await cluster.mine();
  await reaches(id, "broadcast");
  await cluster.gossiped();
  await cluster.mine();
  await reaches(id, "confirmed");
  t.equal((await paid()).length, 1);
});
