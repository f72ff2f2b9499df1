import t from "tap";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

t.test("the process that follows the validators hangs: calls go on, and it is replaced", async (t) => {
  const redis = await startRedis(t);
  const network = await startValidators(t, { blockTimeMs: 300 });
  const workers = await startWorkers(t, {
    redisUrl: redis.url,
    upstream: network.urls.join(","),
    more: "blockTimeMs: 300",
  });
  const height = async () => Number((await workers.call({ method: "eth_blockNumber" })).result);
  const ready = async () => {
    const response = await fetch(`${workers.opsUrl}/readyz`);
    return { status: response.status, text: await response.text() };
  };

  const pid = await workers.pidOf("head");
  const before = await height();
  process.kill(pid, "SIGSTOP");
  const told = await waitFor("it is missed", async () => {
    const answer = await ready();
    return answer.text.includes("head does not answer") && answer;
  });
  t.equal(told.status, 200, "the gateway serves all the same");
  for (let calls = 0; calls < 10; calls += 1) {
    const asked = { method: "eth_getBalance", params: [nobody, "latest"] };
    t.match(await workers.call(asked), { status: 200, result: "0x0" }, "meanwhile");
  }
  // One that is silent for 30 s is killed.
  const { deaths } = await workers.replaced("head", pid, { withinMs: 150_000 });
  t.equal(deaths, 1, "once: its replacement starts and serves");
  await waitFor("blocks are told again", async () => (await height()) > before || undefined);
  await waitFor("all is well", async () => (await ready()).text.includes('"degraded": false'));
  const { processes } = (await workers.status()).workers;
  t.same(
    processes.map((place) => place.deaths),
    [1, 0, 0],
    "no worker went with it",
  );
});

const nobody = `0x${"0e".repeat(20)}`;
