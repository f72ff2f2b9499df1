import t from "tap";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";
import { isRunning, metricIn } from "../../helpers/workers.ts";
import { startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

t.test("processes that are killed", async (t) => {
  const redis = await startRedis(t);
  const network = await startValidators(t, { blockTimeMs: 300 });
  const workers = await startWorkers(t, {
    redisUrl: redis.url,
    upstream: network.urls.join(","),
    more: "blockTimeMs: 300",
  });
  const call = () => workers.call({ method: "eth_chainId" });
  const answered = async () => metricIn(await workers.metrics(), "tollgate_gateway_requests_total");

  await t.test("a worker is replaced, which is counted and logged, and no sum falls", async (t) => {
    for (let calls = 0; calls < 40; calls += 1) await call();
    const before = await answered();
    t.equal(before, 40);
    const pid = await workers.pidOf("worker-1");
    process.kill(pid, "SIGKILL");
    const { deaths } = await workers.replaced("worker-1", pid);
    t.equal(deaths, 1);
    t.ok((await answered()) >= before, "what the dead one counted stays in the sum");
    t.match(workers.output(), `"msg":"worker-1 has ended unasked and is replaced"`);
    t.equal(metricIn(await workers.metrics(), "tollgate_worker_deaths_total", 'worker="worker-1"'), 1);
    for (let calls = 0; calls < 20; calls += 1) t.equal((await call()).status, 200);
    t.equal((await fetch(`${workers.opsUrl}/readyz`)).status, 200);
  });

  await t.test(
    "the process that follows the validators: calls go on, and no head falls or is left out",
    async (t) => {
      const subscriber = await openWebSocket(t, workers.url);
      const subscription = String(await subscriber.call("eth_subscribe", ["newHeads"]));
      await subscriber.waitFor(subscription, 2);
      const pid = await workers.pidOf("head");
      process.kill(pid, "SIGKILL");
      for (let calls = 0; calls < 20; calls += 1) {
        const { status, result } = await workers.call({
          method: "eth_getBalance",
          params: [nobody, "latest"],
        });
        t.same({ status, result }, { status: 200, result: "0x0" }, "meanwhile");
      }
      await workers.replaced("head", pid);
      const seen = subscriber.told.length;
      const heads = await subscriber.waitFor(subscription, seen + 3);
      const numbers = heads.map((head) => numberOf(head));
      t.same(
        numbers,
        numbers.map((_, index) => (numbers[0] ?? 0) + index),
        "one after the other",
      );
      t.match(await (await fetch(`${workers.opsUrl}/readyz`)).json(), { ready: true });
    },
  );

  await t.test("the primary: its workers stop too", async (t) => {
    const { processes } = (await workers.status()).workers;
    const pids = processes.flatMap(({ pid }) => pid ?? []);
    t.equal(pids.length, 3);
    workers.kill("SIGKILL");
    await waitFor("all have ended", () => pids.every((pid) => !isRunning(pid)) || undefined);
    await t.rejects(call(), { code: "ECONNREFUSED" });
  });
});

const nobody = `0x${"0e".repeat(20)}`;

function numberOf(head: unknown): number {
  return typeof head === "object" && head !== null && "number" in head ? Number(head.number) : Number.NaN;
}
