import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { askReload, reloadInTurn } from "../../helpers/ask-reload.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";
import { allowMigration, hashOf, runRestart, startLoad } from "../../helpers/workers.ts";
import { callOnce, startWorkers } from "./workers-rig.ts";

t.setTimeout(200_000);

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';

t.test("changes of running workers", async (t) => {
  const redis = await startRedis(t);
  const network = await startValidators(t, { blockTimeMs: 300 });
  const upstream = network.urls.slice(0, 4).join(",");
  const workers = await startWorkers(t, { redisUrl: redis.url, upstream, more: "blockTimeMs: 300" });
  const text = readFileSync(workers.file, "utf8");
  const write = (change: (text: string) => string) => writeFileSync(workers.file, change(text));
  const hashes = async () =>
    Object.values((await workers.status()).each).map((each) => JSON.stringify(each?.["config"]));

  await t.test("a new configuration is taken by all: a validator more, a smaller batch", async (t) => {
    write((text) => `${text.replace(upstream, network.urls.join(","))}limits: { batchItemsMax: 2 }\n`);
    const { status, body: told } = await reloadInTurn(workers);
    t.equal(status, 200);
    t.equal(told.outcome, "changed");
    const batch = JSON.stringify(Array.from({ length: 3 }, () => JSON.parse(body)));
    for (let calls = 0; calls < 12; calls += 1) {
      const refused = await callOnce({ port: workers.port, body: batch });
      t.equal(refused.status, 400, "whichever of them is asked");
    }
    await waitFor(
      "the fifth validator is followed",
      async () => /validator_height\{validator="validator-5"\} \d/.test(await workers.metrics()) || undefined,
    );
  });

  await t.test("one that cannot be used is taken by none, and each says so", async (t) => {
    const before = await hashes();
    write((text) => `${text.replace(upstream, network.urls.join(","))}limits: { batchItemsMax: 0 }\n`);
    const refused = await reloadInTurn(workers);
    t.equal(refused.status, 409);
    t.match(refused.body.problems, [/batchItemsMax/]);
    write((text) => `${text}redisCommandTimeoutMs2: 1\n`);
    t.match((await reloadInTurn(workers)).body.problems, [/redisCommandTimeoutMs2/]);
    write((text) => `${text}blockTimeMs2: 1\n`);
    t.equal((await reloadInTurn(workers, "?dry-run")).status, 409);
    const after = await hashes();
    t.equal(after.length, before.length);
    for (const each of after) t.match(each, '"outcome":"refused"');
    t.match(await workers.metrics(), /tollgate_config_last_reload_successful 0/);
  });

  await t.test(
    "a worker that dies then comes back with what the others run with, not with the bad file",
    async (t) => {
      const pid = await workers.pidOf("worker-2");
      process.kill(pid, "SIGKILL");
      await workers.replaced("worker-2", pid);
      const { each } = await workers.status();
      t.equal(hashOf(each["worker-2"]), hashOf(each["worker-1"]));
    },
  );

  await t.test("a restart with a file that cannot be used changes nothing, and says why", async (t) => {
    const { code, output } = await runRestart("gateway/main.ts", workers.opsUrl);
    t.equal(code, 2);
    t.match(output, /goes on as it is:\n.*blockTimeMs2/);
    t.equal((await workers.call({ method: "eth_chainId" })).status, 200);
    write((text) => text.replace(/^port: .*$/m, "port: 1"));
    t.match(
      (await runRestart("gateway/main.ts", workers.opsUrl)).output,
      "port cannot change while workers are replaced",
    );
  });

  await t.test("a restart replaces each process, and no call fails", async (t) => {
    if (!allowMigration(t)) return t.plan(0, "net.ipv4.tcp_migrate_req is 0 and not ours to set");
    write((text) => text.replace("redisCommandTimeoutMs: 5000", "redisCommandTimeoutMs: 5001"));
    t.match((await askReload(workers)).body.problems, [
      /redisCommandTimeoutMs cannot change without a restart/,
    ]);
    const before = (await workers.status()).workers.processes.map(({ pid }) => pid);
    const socket = await openWebSocket(t, workers.url);
    const load = startLoad(async (agent) => {
      const { status, result } = await callOnce({ port: workers.port, body, ...(agent && { agent }) });
      return status === 200 && result !== undefined ? undefined : `${status}`;
    });
    const { code, output } = await runRestart("gateway/main.ts", workers.opsUrl);
    t.equal(code, 0, output);
    t.match(output, /0 of 3 processes are replaced\n(.*\n)*3 of 3 processes are replaced/);
    const { calls, failures } = await load.stop();
    t.same(failures, [], "none was refused, cut or answered with an error");
    t.ok(calls > 100, `${calls} calls`);
    t.equal((await socket.closed).code, 1001, "a WebSocket is told to come again");
    const after = (await workers.status()).workers.processes;
    t.equal(after.filter(({ pid }) => before.includes(pid)).length, 0);
    t.ok(
      after.every(({ deaths }, index) => deaths === (index === 2 ? 1 : 0)),
      "no death counts but the one above",
    );
  });
});
