import { readFileSync } from "node:fs";
import t from "tap";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { openKeyStore } from "../../helpers/api-keys.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { metricIn } from "../../helpers/workers.ts";
import { limitsSchema, startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

t.test("two workers behind one port", async (t) => {
  const redis = await startRedis(t);
  const network = await startValidators(t, { blockTimeMs: 300 });
  const workers = await startWorkers(t, {
    redisUrl: redis.url,
    upstream: network.urls.join(","),
    more: "blockTimeMs: 300",
  });
  const { create, store } = await openKeyStore(t, redis.url);
  const answers = (count: number, key: string) =>
    Promise.all(Array.from({ length: count }, () => workers.call({ method: "eth_chainId" }, { key })));

  await t.test("admit together what a key's limit is, and not one call more", async (t) => {
    const { secret } = await create({ limitPerMinute: 50 });
    const told = await answers(120, secret);
    t.equal(told.filter(({ status }) => status === 200).length, 50);
    t.equal(told.filter(({ status, error }) => status === 429 && error?.code === -32005).length, 70);
    const { each } = await workers.status();
    const charged = ["worker-1", "worker-2"].map((name) => {
      const { calls } = limitsSchema.parse(each[name]).limits;
      return Object.values(calls).reduce((sum, count) => sum + count, 0);
    });
    t.ok(
      charged.every((count) => count > 10),
      `the kernel gives each its share: ${charged}`,
    );
    t.equal(metricIn(await workers.metrics(), "tollgate_gateway_requests_total"), 120, "one sum for all");
  });

  await t.test("answer for a filter whichever of them made it, each block once", async (t) => {
    const { result: filter } = await workers.call({ method: "eth_newBlockFilter" });
    const seen: unknown[] = [];
    await waitFor("eight blocks are told", async () => {
      const { result } = await workers.call({ method: "eth_getFilterChanges", params: [filter] });
      if (!Array.isArray(result)) throw new Error(`no list: ${result}`);
      seen.push(...result);
      return seen.length >= 8 || undefined;
    });
    t.equal(new Set(seen).size, seen.length);
  });

  await t.test("no command line or environment of a process tells what stands in the files", async (t) => {
    const password = new URL(redisUrlIn(workers.file)).password;
    t.ok(password.length > 0);
    const { processes } = (await workers.status()).workers;
    t.equal(processes.length, 3);
    for (const { name, pid } of processes) {
      const shown = ["cmdline", "environ"].map((what) => readFileSync(`/proc/${pid}/${what}`, "utf8")).join();
      t.match(shown, workers.file, `${name} is one of ours`);
      t.notMatch(shown, coreKey);
      t.notMatch(shown, password);
    }
  });

  await t.test("both refuse a key that is revoked", async (t) => {
    const { secret, key } = await create();
    t.ok((await answers(10, secret)).every(({ status }) => status === 200));
    await store.revoke(key.id);
    await waitFor(
      "both have heard of it",
      async () => (await answers(20, secret)).every(({ status }) => status === 401) || undefined,
    );
  });
});

/** The address with the user and its password. */
function redisUrlIn(file: string): string {
  return /^redis: (.*)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? "";
}
