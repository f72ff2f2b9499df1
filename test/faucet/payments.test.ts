import t, { type Test } from "tap";
import type { FaucetConfig } from "../../faucet/config.ts";
import { faucetLimitKey } from "../../lib/redis/keys/faucet.ts";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { startCutProxy } from "../fakes/cut-proxy.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, flushAll, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress, signOutside } from "./support/outside-wallet.ts";
import { type FaucetUnderTest, startFaucet } from "./support/start-faucet.ts";

/** A dev chain that makes a block for each transaction, a Redis, and as many addresses as a test needs. */
async function startRig(t: Test, { addresses: count = 2 }: { addresses?: number } = {}) {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const client = await connectAdmin(t, redis.url);
  const addresses = Array.from({ length: count }, randomAddress);
  return {
    redis,
    anvil,
    client,
    addresses,
    start: (
      options: {
        upstream?: string;
        change?: (config: FaucetConfig) => FaucetConfig;
        adopt?: boolean;
        atPoint?: (point: string) => void;
      } = {},
    ) =>
      startFaucet(t, {
        redisUrl: redis.url,
        upstream: anvil.url,
        ...options,
        allowlist: addresses.map((address) => ({ address })),
      }),
    paid: () => readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 }),
  };
}

async function claim(faucet: FaucetUnderTest, address: string | undefined): Promise<string> {
  const { status, json } = await faucet.claim({ address, website: "" });
  if (status !== 202) throw new Error(`refused: ${JSON.stringify(json)}`);
  return json.claim.id;
}

const opsStatus = (faucet: FaucetUnderTest) =>
  fetch(`${faucet.opsUrl}/status`).then((response) => response.text());

t.test("a nonce that is used from outside is noticed, and nothing is paid twice", async (t) => {
  const { anvil, addresses, start, paid } = await startRig(t);
  const faucet = await start();
  await faucet.ended(await claim(faucet, addresses[0]));
  await anvil.rpc("eth_sendRawTransaction", [await signOutside({ nonce: 1 })]);
  await waitFor("noticed", () => faucet.logLines.some((line) => line.includes("used from outside")));
  t.match(await faucet.ended(await claim(faucet, addresses[1])), { status: "confirmed" });
  t.match(await paid(), [
    { to: addresses[0]?.toLowerCase(), nonce: 0 },
    { to: faucetAddress.toLowerCase(), nonce: 1 },
    { to: addresses[1]?.toLowerCase(), nonce: 2 },
  ]);
  const metrics = await fetch(`${faucet.opsUrl}/metrics`).then((response) => response.text());
  t.match(metrics, /^tollgate_faucet_outside_nonces_total 1$/m);
});

t.test(
  "a Redis that is lost: payments of the last day are found on the chain, and count again",
  async (t) => {
    const { client, addresses, start, paid } = await startRig(t);
    const faucet = await start();
    const [first, second] = addresses;
    const id = await claim(faucet, first);
    const { txHash } = await faucet.ended(id);
    await flushAll(client);
    await waitFor("found", async () => (await faucet.get(`/claims/${id}`)).status === 200);
    t.match(JSON.parse((await faucet.get(`/claims/${id}`)).text), {
      claim: { id, address: first, amount: "10000000000000000000", status: "confirmed", txHash },
    });
    await waitFor("copied", async () => (await faucet.claim({ address: first, website: "" })).status !== 403);
    t.match(await faucet.claim({ address: first, website: "" }), { status: 429 });
    t.match(await faucet.ended(await claim(faucet, second)), { status: "confirmed" });
    t.equal((await paid()).length, 2);
  },
);

t.test("a Redis that has lost a signature only: the payment on the chain ends its claim", async (t) => {
  const { client, addresses, start, paid } = await startRig(t);
  let isCut = true;
  const faucet = await start({
    atPoint(point) {
      if (point === "before end" && isCut) throw new Error("cut short");
    },
  });
  const id = await claim(faucet, addresses[0]);
  await waitFor("paid", async () => (await paid()).length === 1);
  // What a Redis that writes late can forget: the claim waits again, and its nonce is free.
  await client
    .multi()
    .hset(`{faucet}:claim:${id}`, "status", "received")
    .hdel(`{faucet}:claim:${id}`, "nonce", "raw", "txHash")
    .zrem("{faucet}:open", id)
    .rpush("{faucet}:queue", id)
    .set("{faucet}:nonce", "0")
    .exec();
  isCut = false;
  t.match(await faucet.ended(id), { status: "confirmed" });
  await faucet.ended(await claim(faucet, addresses[1]));
  t.same(
    (await paid()).map(({ to }) => to),
    addresses.map((address) => address.toLowerCase()),
  );
});

t.test("a dev chain that goes back behind a payment: the same bytes are broadcast again", async (t) => {
  const { anvil, addresses, start, paid } = await startRig(t);
  const faucet = await start();
  const snapshot = await anvil.rpc("evm_snapshot");
  const id = await claim(faucet, addresses[0]);
  const { txHash } = await faucet.ended(id);
  await anvil.rpc("evm_revert", [snapshot]);
  t.equal((await paid()).length, 0, "the chain has forgotten it");
  await anvil.rpc("evm_mine");
  await waitFor("paid again", async () => (await paid()).length === 1);
  t.match(await faucet.ended(id), { status: "confirmed", txHash });
  await faucet.ended(await claim(faucet, addresses[1]));
  t.equal((await paid()).length, 2);
});

t.test("a recipient that reverts: the claim ends with a reason, and its limits are given back", async (t) => {
  const { anvil, client, addresses, start } = await startRig(t);
  const [address = ""] = addresses;
  const faucet = await start();
  await anvil.rpc("evm_setAutomine", [false]);
  const id = await claim(faucet, address);
  await waitFor("sent", async () => (await faucet.get(`/claims/${id}`)).text.includes('"broadcast"'));
  // Between the look at the address and the block, code appears there: PUSH1 0, PUSH1 0, REVERT.
  await anvil.rpc("anvil_setCode", [address, "0x60006000fd"]);
  await anvil.rpc("evm_mine");
  t.match(await faucet.ended(id), {
    status: "refused",
    reason: "The transaction was reverted by its recipient",
  });
  for (const scope of [`address:${address.toLowerCase()}`, "client:127.0.0.1", "all"]) {
    t.equal(await client.zcard(faucetLimitKey(scope)), 0, scope);
  }

  await flushAll(client);
  await waitFor("the backfill is done", async () => (await client.exists("{faucet}:nonce")) === 1);
  t.match(await faucet.get(`/claims/${id}`), { status: 404 }, "a lost Redis does not make it a payment");
});

t.test("the node is down: claims are taken, wait, and are paid when it is back", async (t) => {
  const { anvil, addresses, start, paid } = await startRig(t);
  const proxy = await startCutProxy(t, { port: anvil.port });
  const faucet = await start({ upstream: proxy.url });
  proxy.set("cut");
  const ids = [await claim(faucet, addresses[0]), await claim(faucet, addresses[1])];
  await waitFor("said", async () => (await opsStatus(faucet)).includes("does not answer"));
  t.match(await fetch(`${faucet.opsUrl}/readyz`).then((response) => response.json()), {
    ready: true,
    degraded: true,
  });
  t.match(JSON.parse((await faucet.get("/status")).text), { waiting: 2 });
  proxy.set("open");
  for (const id of ids) t.match(await faucet.ended(id), { status: "confirmed" });
  t.equal((await paid()).length, 2);
});

t.test("a contract that could not be seen while the node was down is refused when it is back", async (t) => {
  const { anvil, client, addresses, start, paid } = await startRig(t);
  const [address = ""] = addresses;
  const proxy = await startCutProxy(t, { port: anvil.port });
  const faucet = await start({ upstream: proxy.url });
  proxy.set("cut");
  const id = await claim(faucet, address);
  await anvil.rpc("anvil_setCode", [address, "0x00"]);
  proxy.set("open");
  t.match(await faucet.ended(id), { status: "refused", reason: "The address is a contract", txHash: null });
  t.equal(await client.zcard(faucetLimitKey(`address:${address.toLowerCase()}`)), 0);
  t.equal((await paid()).length, 0);
});

t.test("paused: claims are refused, what waits is not signed, and resuming pays it", async (t) => {
  const { anvil, client, addresses, start, paid } = await startRig(t);
  const proxy = await startCutProxy(t, { port: anvil.port });
  const faucet = await start({ upstream: proxy.url });
  proxy.set("cut");
  const id = await claim(faucet, addresses[0]);
  await client.set("{faucet}:paused", "1");
  proxy.set("open");
  t.match(await faucet.claim({ address: addresses[1], website: "" }), {
    status: 503,
    json: { code: "upstream_unavailable", detail: /paused/ },
  });
  await waitFor("looked", async () => !(await opsStatus(faucet)).includes("does not answer"));
  t.match(JSON.parse((await faucet.get("/status")).text), { paused: true, waiting: 1 });
  t.equal((await paid()).length, 0);
  await client.del("{faucet}:paused");
  t.match(await faucet.ended(id), { status: "confirmed" });
});

t.test("another chain: the faucet refuses to start until it is told to adopt it", async (t) => {
  const { client, addresses, start, anvil } = await startRig(t);
  const first = await start();
  await first.ended(await claim(first, addresses[0]));
  await first.stop();
  const other = await startAnvil(t, { genesisTimestampSeconds: 1_700_000_000 });
  await t.rejects(start({ upstream: other.url }), { name: "WrongChainError", message: /--adopt-chain/ });

  const adopted = await start({ upstream: other.url, adopt: true });
  t.match(await adopted.ended(await claim(adopted, addresses[0])), { status: "confirmed" }, "may claim anew");
  t.equal(await other.rpc("eth_getBalance", [addresses[0], "latest"]), "0x8ac7230489e80000");
  await adopted.stop();
  await t.rejects(start({ upstream: anvil.url }), { name: "WrongChainError" });
  t.ok(await client.exists("{faucet}:chain"));
});

t.test("a chain that is replaced under a running faucet gets no payment", async (t) => {
  const { anvil, addresses, start } = await startRig(t);
  const other = await startAnvil(t, { genesisTimestampSeconds: 1_700_000_000 });
  const proxy = await startCutProxy(t, { port: anvil.port });
  const faucet = await start({ upstream: proxy.url });
  proxy.redirect(other.port);
  await waitFor("noticed", async () => (await opsStatus(faucet)).includes("another chain"));
  const id = await claim(faucet, addresses[0]);
  proxy.redirect(anvil.port);
  t.match(await faucet.ended(id), { status: "confirmed" });
  t.equal(await other.rpc("eth_getTransactionCount", [faucetAddress, "latest"]), "0x0");
});

t.test("open claims of another network end when a new one is adopted", async (t) => {
  const { anvil, client, addresses, start } = await startRig(t);
  const proxy = await startCutProxy(t, { port: anvil.port });
  const faucet = await start({ upstream: proxy.url });
  proxy.set("cut");
  const id = await claim(faucet, addresses[0]);
  await faucet.stop();
  const other = await startAnvil(t, { genesisTimestampSeconds: 1_700_000_000 });
  const adopted = await start({ upstream: other.url, adopt: true });
  t.match(await adopted.ended(id), { status: "refused", reason: /replaced/ });
  t.equal(await client.llen("{faucet}:queue"), 0);
  t.equal(await other.rpc("eth_getTransactionCount", [faucetAddress, "latest"]), "0x0");
});

t.test("a Redis that is given to another wallet under a running faucet: nothing is paid", async (t) => {
  const { client, addresses, start, paid } = await startRig(t);
  const faucet = await start();
  await client.hset("{faucet}:chain", "wallet", randomAddress());
  await claim(faucet, addresses[0]);
  await waitFor("noticed", async () => (await opsStatus(faucet)).includes("another chain or wallet"));
  t.equal((await paid()).length, 0);
});

t.test("a claim that is repeated after the wallet ran empty is answered with the first one", async (t) => {
  const { anvil, addresses, start } = await startRig(t);
  const [address = ""] = addresses;
  const faucet = await start();
  const options = { headers: { "Idempotency-Key": "a-key" } };
  const first = await faucet.claim({ address }, options);
  await faucet.ended(first.json.claim.id);
  await anvil.rpc("anvil_setBalance", [faucetAddress, "0x1"]);
  await anvil.rpc("evm_mine");
  await waitFor("empty", async () => (await faucet.get("/status")).text.includes('"balance":"1"'));
  t.match(await faucet.claim({ address: addresses[1] }), { status: 503, json: { code: "faucet_empty" } });
  t.match(await faucet.claim({ address }, options), {
    status: 202,
    json: { claim: { id: first.json.claim.id } },
  });
});
