import t, { type Test } from "tap";
import { createClaimIds } from "../../faucet/claims/claim-ids.ts";
import { faucetClaimKey, faucetLimitKey, faucetNonceKey } from "../../lib/redis/keys/faucet.ts";
import { startDurableRedis } from "../../scripts/processes/durable-redis.ts";
import { checkPayments } from "../../scripts/soak/faucet-crashes/checks.ts";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { startCutProxy } from "../fakes/cut-proxy.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, onlySingle, serverProgram, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { faucetAddress, randomAddress } from "./support/outside-wallet.ts";
import { startFaucet } from "./support/start-faucet.ts";

/** Of which a test truncates the file. What a cluster loses in a failover is test/faucet/failover.test.ts. */
const startDurable = async (t: Test) => startDurableRedis(t, { program: await serverProgram() });
const claimsCount = 30;
const amountWei = 10n ** 19n;

t.test(
  "a truncated append-only file: claims that are sent again with their Idempotency-Key are paid once, by the same id",
  { skip: onlySingle },
  async (t) => {
    // A part of the claims is mined, a part in the pool, a part not signed, whatever the share that is left.
    for (const share of [0.15, 0.5, 0.85]) {
      const [redis, anvil] = await Promise.all([startDurable(t), startAnvil(t, { blockTimeSeconds: 0.2 })]);
      const addresses = Array.from({ length: claimsCount }, randomAddress);
      const faucet = await startFaucet(t, {
        redisUrl: redis.url,
        upstream: anvil.url,
        allowlist: addresses.map((address) => ({ address })),
        change: (config) => ({ ...config, inFlightMax: 8, pollMs: 50, resendAfterMs: 200 }),
      });
      const paid = () => readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 });
      const claim = async (address: string) => {
        const headers = { "Idempotency-Key": `key-of-${address}` };
        const { status, json } = await faucet.claim({ address, website: "" }, { headers });
        return status === 202 ? json.claim.id : undefined;
      };
      const first = new Map<string, string>();
      for (const address of addresses) first.set(address, (await claim(address)) ?? "refused");
      await waitFor("some are paid", async () => (await paid()).length >= claimsCount / 3);
      await redis.crashTruncated(share);

      const again = new Map<string, string>();
      const isAccepted = async (address: string) => {
        // The faucet connects anew, looks at the chain and copies its allowlist first.
        const id = await claim(address).catch(() => undefined);
        if (id !== undefined) again.set(address, id);
        return id !== undefined;
      };
      await Promise.all(addresses.map((address) => waitFor("accepted", () => isAccepted(address))));
      t.same(again, first, `${share} left: each claim has its id again`);
      for (const [, id] of again) {
        const { status } = await faucet.ended(id);
        if (status !== "confirmed") t.fail(`${share} left: ${id} ended as ${status}`);
      }
      t.same(checkPayments({ addresses, claims: first, paid: await paid(), amountWei }), []);
      await faucet.stop();
    }
  },
);

t.test(
  "a Redis that is lost altogether: a claim that is sent again is answered from the chain",
  { skip: onlySingle },
  async (t) => {
    const [redis, anvil] = await Promise.all([startDurable(t), startAnvil(t)]);
    const address = randomAddress();
    const faucet = await startFaucet(t, {
      redisUrl: redis.url,
      upstream: anvil.url,
      allowlist: [{ address }],
    });
    const claim = (key: string) => faucet.claim({ address }, { headers: { "Idempotency-Key": key } });
    const { id } = (await claim("mine")).json.claim;
    await faucet.ended(id);
    await redis.crashTruncated(0);
    await waitFor("answered", async () => (await claim("mine").catch(() => undefined))?.status === 202);
    t.match(await claim("mine"), { json: { claim: { id, status: "confirmed" } } });
    t.match(await claim("another"), { status: 429 });
    t.equal((await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).length, 1);
  },
);

t.test(
  "claims' ids: the same for the same request within its key's time, of another one without a key",
  async (t) => {
    const dayMs = 86_400_000;
    const ids = createClaimIds({ secret: Buffer.from("a"), idempotencyMs: dayMs });
    const request = { scope: "client:192.0.2.1", idempotencyKey: "k", address: "0xAB", nowMs: 10 * dayMs };
    const { id } = ids.of(request);
    t.match(id, /^[0-9a-f]{32}$/);
    t.equal(ids.of({ ...request, address: "0xab", nowMs: 11 * dayMs - 1 }).id, id);
    t.equal(ids.of({ ...request, nowMs: 11 * dayMs }).earlierId, id, "sent again over the end of a period");
    t.not(ids.of({ ...request, nowMs: 11 * dayMs }).id, id);
    const others = [
      { ...request, scope: "team:core" },
      { ...request, idempotencyKey: "k2" },
      { ...request, address: "0xac" },
    ].map((other) => ids.of(other).id);
    const ofAnother = createClaimIds({ secret: Buffer.from("b"), idempotencyMs: dayMs }).of(request).id;
    const random = ids.of({ ...request, idempotencyKey: undefined });
    t.equal(new Set([id, ofAnother, random.id, ...others]).size, 6);
    t.equal(random.earlierId, random.id);
  },
);

t.test(
  "an address that claims anew before its payment is found on the chain again: not paid twice",
  async (t) => {
    const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
    const client = await connectAdmin(t, redis.url);
    const proxy = await startCutProxy(t, { port: anvil.port });
    const address = randomAddress();
    const faucet = await startFaucet(t, {
      redisUrl: redis.url,
      upstream: proxy.url,
      allowlist: [{ address }],
    });
    const { id } = (await faucet.claim({ address })).json.claim;
    await faucet.ended(id);
    proxy.set("cut");
    await waitFor("noticed", async () =>
      (await fetch(`${faucet.opsUrl}/status`).then((response) => response.text())).includes(
        "does not answer",
      ),
    );
    const limits = [`address:${address.toLowerCase()}`, "client:127.0.0.1", "all"].map(faucetLimitKey);
    await client
      .multi()
      .del(faucetClaimKey(id), ...limits)
      .set(faucetNonceKey, 0)
      .exec();
    const { status, json } = await faucet.claim({ address });
    t.equal(status, 202);
    proxy.set("open");
    t.match(await faucet.ended(json.claim.id), { status: "refused", reason: /had its claim/, txHash: null });
    t.match(await faucet.ended(id), { status: "confirmed" });
    t.equal((await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).length, 1);
  },
);
