import t from "tap";
import { startValidators } from "../fakes/validators/start-validators.ts";
import { startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

for (const [what, strike] of [
  ["die", "die"],
  ["hang", "hang"],
] as const) {
  t.test(`all validators ${what} while nobody asks anything`, async (t) => {
    const redis = await startRedis(t);
    const cluster = await startValidators(t);
    await cluster.mine(3);
    let aheadMs = 0;
    const gateway = await startGateway(t, {
      redisUrl: redis.url,
      upstreams: cluster.urls,
      monotonicMs: () => performance.now() + aheadMs,
      // Five of them are a stall: time enough for a slow machine to see what is before it.
      change: (config) => ({
        ...config,
        blockTimeMs: 6000,
        forward: { ...config.forward, health: { ...config.forward.health, quietMsMax: 4000 } },
      }),
    });
    const text = async (path: string) => (await fetch(`${gateway.opsUrl}/${path}`)).text();
    const reasons = async (): Promise<string> => {
      const { degraded, reasons } = JSON.parse(await text("readyz"));
      return degraded === true ? String(reasons) : "";
    };
    const metric = async (name: string): Promise<number> =>
      Number(new RegExp(`^tollgate_gateway_${name} (.+)$`, "m").exec(await text("metrics"))?.[1]);
    const logged = (message: string) => gateway.logLines.filter((line) => line.includes(message)).length;
    await waitFor("the head is announced", async () => (await metric("head_number")) === 3);
    t.equal(await reasons(), "", "all is well");
    t.equal(await metric("chain_stalled"), 0);

    for (const validator of cluster.validators) await validator[strike]();
    await waitFor("it is degraded", async () => (await reasons()).includes("no validator answers"));
    t.equal(await metric("chain_stalled"), 0, "five block times are not over");
    aheadMs += 30_000;
    t.equal(await metric("chain_stalled"), 1, "by the clock, at once");
    t.ok((await metric("head_age_seconds")) >= 30);
    await waitFor("the log says it", async () => logged("the chain stands still") === 1);
    const inUse = async () =>
      [...(await text("metrics")).matchAll(/^tollgate_gateway_validator_in_use\{.*\} 1$/gm)].length;
    await waitFor("none counts as in use, though nobody asked them", async () => (await inUse()) === 0);
    aheadMs += 3_600_000;
    t.equal(await metric("chain_stalled"), 1, "and an hour later");
    t.match(await reasons(), "no validator answers");
    t.equal(logged("the chain goes on"), 0);

    for (const validator of cluster.validators) await validator.heal();
    const isNew = async () => {
      await cluster.mine(1);
      return (await metric("chain_stalled")) === 0;
    };
    await waitFor("a new block", isNew);
    await waitFor("all is well again", async () => (await reasons()) === "");
    await waitFor("the log says it", async () => logged("the chain goes on") === 1);
  });
}
