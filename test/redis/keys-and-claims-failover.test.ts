import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { createKeyStore } from "../../lib/keys/key-store.ts";
import { keyVersionKey } from "../../lib/redis/keys/api-keys.ts";
import { faucetQueueKey } from "../../lib/redis/keys/faucet.ts";
import { readPayments } from "../../scripts/soak/faucet-crashes/read-payments.ts";
import { faucetAddress, randomAddress } from "../faucet/support/outside-wallet.ts";
import { startFaucet } from "../faucet/support/start-faucet.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { connectTo, failOver, moveAround, startFailoverCluster } from "./failover-rig.ts";

t.test(
  "a key that was revoked right before its master is killed stays revoked, and changes are heard on",
  async (t) => {
    const cluster = await startFailoverCluster(t);
    const store = createKeyStore({ redis: await connectTo(t, cluster.url) });
    await store.setTeam({ name: "acme" });
    const settings = { team: "acme", label: "a test", permissions: ["rpc"], qa: false } as const;
    const made = await store.create({ ...settings, permissions: ["rpc"], profile: "production" });
    if (made.outcome !== "created") throw new Error(made.outcome);
    const heard: string[] = [];
    const watch = store.watch({
      onChange: (hash) => heard.push(hash),
      onTeamChange() {},
      onMayHaveMissed() {},
      checkIntervalMs: 100,
    });
    t.teardown(() => watch.stop());
    await waitFor("subscribed", () => watch.subscribed());
    await moveAround(cluster, keyVersionKey, 1);
    await waitFor("subscribed where the keys are now", () => watch.subscribed());
    t.equal(await store.revoke(made.key.id), "revoked");
    await failOver(cluster, keyVersionKey);
    const found = await waitFor("found again", () => store.find(made.key.hash).catch(() => undefined));
    t.type(found.revokedAtMs, "number");
    await waitFor(
      "subscribed at the node that took over",
      () => watch.subscribed() && watch.loss() === undefined,
    );
    const again = await store.create({ ...settings, permissions: ["rpc"], profile: "production" });
    if (again.outcome !== "created") throw new Error(again.outcome);
    await waitFor("heard", () => heard.includes(again.key.hash));
  },
);

t.test(
  "the faucet's master is killed with what its replica has not got: every claim is paid once",
  async (t) => {
    const [cluster, anvil] = await Promise.all([
      startFailoverCluster(t),
      startAnvil(t, { blockTimeSeconds: 0.2 }),
    ]);
    const addresses = Array.from({ length: 20 }, randomAddress);
    const faucet = await startFaucet(t, {
      redisUrl: cluster.url,
      upstream: anvil.url,
      allowlist: addresses.map((address) => ({ address })),
      change: (config) => ({ ...config, inFlightMax: 4, pollMs: 50, resendAfterMs: 200 }),
    });
    const claim = async (address: string) => {
      const headers = { "Idempotency-Key": `key-of-${address}` };
      const { status, json } = await faucet.claim({ address, website: "" }, { headers });
      return status === 202 ? String(json.claim.id) : undefined;
    };
    const paid = () => readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 });
    for (const address of addresses.slice(0, 10)) t.ok(await claim(address));
    await waitFor("some are paid", async () => (await paid()).length >= 3);
    // From here on the replica hears nothing: what is written next is lost with the master.
    const { hashSlot } = await import("../../lib/redis/hash-slot.ts");
    const master = await cluster.ownerOf(hashSlot(faucetQueueKey));
    const [replica] = await cluster.replicasOf(master);
    if (replica === undefined) throw new Error("a master has a replica");
    replica.process.freeze();
    for (const address of addresses.slice(10)) await claim(address);
    await sleep(300);
    await master.process.kill();
    replica.process.thaw();
    await waitFor("a replica has taken over", async () => {
      const owner = await cluster.ownerOf(hashSlot(faucetQueueKey)).catch(() => undefined);
      return owner === replica;
    });
    for (const address of addresses) {
      const id = await waitFor("taken", () => claim(address).catch(() => undefined));
      await waitFor("ended", async () => /"confirmed"/.test((await faucet.get(`/claims/${id}`)).text));
    }
    const counts = new Map<string, number>();
    for (const { to } of await paid()) counts.set(to.toLowerCase(), (counts.get(to.toLowerCase()) ?? 0) + 1);
    for (const address of addresses) t.equal(counts.get(address.toLowerCase()), 1, `${address} is paid once`);
  },
);
