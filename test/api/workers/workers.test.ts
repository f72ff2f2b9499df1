import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Agent, request } from "node:http";
import { join } from "node:path";
import { pino } from "pino";
import t from "tap";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { onlyRow, readInteger } from "../../../lib/postgres/row.ts";
import { reloadInTurn } from "../../helpers/ask-reload.ts";
import { runNodeProcess, whenUp } from "../../helpers/node-process.ts";
import { asUser } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import {
  allowMigration,
  hashOf,
  isRunning,
  metricIn,
  runRestart,
  startLoad,
  watchWorkers,
} from "../../helpers/workers.ts";
import { bob, gold, startServices } from "../support/start-world.ts";

t.setTimeout(200_000);

const pointsMax = 100;
const streamsMax = 20;
const connectionsMax = 4;

t.test("two workers of the api behind one port", async (t) => {
  const { anvil, ...services } = await startServices(t);
  const folder = testFolder(t);
  const contracts = join(folder, "contracts");
  mkdirSync(contracts);
  const file = join(folder, "api.yaml");
  const text = `port: 0
workers: 2
ops: { port: 0 }
redis: ${asUser(services.redisUrl, "api")}
redisCommandTimeoutMs: 5000
postgres: { url: "${services.postgresUrl}", connectionsMax: ${connectionsMax} }
upstream: ${services.upstream}
headPollMs: 100
trustedProxies: [127.0.0.1]
limits: { points: ${pointsMax} }
live: { clientsMax: ${streamsMax}, perAddressMax: 1000 }
`;
  writeFileSync(file, text);
  const api = runNodeProcess(t, "api/main.ts", { args: ["--config", file] });
  const { port, opsPort } = await whenUp("api", api);
  const workers = watchWorkers({ port, opsPort });
  const get = (path: string, { client = nextClient(), ...options }: Partial<Asked> = {}) =>
    getOnce({ port, path, client, ...options });
  const indexed = async () => {
    const { body } = await get("/api/v1/blocks?limit=1");
    return Number(/"indexedBlock":(\d+)/.exec(body)?.[1] ?? -1);
  };
  const leaders = async () => {
    const { each } = await workers.status();
    return Object.keys(each).filter((name) => isLeader(each[name]));
  };
  const followed = async () => {
    await anvil.rpc("evm_mine");
    const head = Number(await anvil.rpc("eth_blockNumber"));
    await waitFor(`block ${head} is in the index`, async () => (await indexed()) >= head || undefined, {
      everyMs: 100,
    });
  };

  await t.test("one of them writes the index, and one ops port tells sums of both", async (t) => {
    t.match(api.output(), `"msg":"2 workers start, which share the port"`);
    await followed();
    t.equal((await leaders()).length, 1);
    const metrics = await workers.metrics();
    t.equal(metricIn(metrics, "api_index_leader"), 1);
    t.equal(metricIn(metrics, "tollgate_workers", 'state="serving"'), 2);
    const head = Number(await anvil.rpc("eth_blockNumber"));
    await waitFor(
      "the index's end is told as it is, not twice",
      async () => metricIn(await workers.metrics(), "api_index_next_block") === head + 1 || undefined,
    );
    t.match(await (await fetch(`${workers.opsUrl}/readyz`)).json(), { ready: true, degraded: false });
  });

  await t.test("they admit together what an address may ask, and not one request more", async (t) => {
    const before = metricIn(await workers.metrics(), "tollgate_api_requests_total", 'status="429"');
    const client = "192.0.2.7";
    const asked = Array.from({ length: pointsMax + 40 }, () => client);
    const statuses: number[] = [];
    // Some at a time, each on a connection of its own.
    const drive = async () => {
      while (asked.pop() !== undefined) statuses.push((await get("/api/v1/chain", { client })).status);
    };
    await Promise.all(Array.from({ length: 16 }, drive));
    t.equal(statuses.filter((status) => status === 200).length, pointsMax);
    t.equal(statuses.filter((status) => status === 429).length, 40);
    const after = metricIn(await workers.metrics(), "tollgate_api_requests_total", 'status="429"');
    t.equal(after - before, 40, "one sum for both");
  });

  await t.test("their streams and their connections to PostgreSQL are what the file says", async (t) => {
    const ends = new AbortController();
    t.teardown(() => ends.abort());
    const open = async () => (await fetch(`${workers.url}api/v1/live`, { signal: ends.signal })).status;
    const statuses = await Promise.all(Array.from({ length: 4 * streamsMax }, open));
    t.equal(statuses.filter((status) => status === 200).length, streamsMax);
    t.equal(statuses.filter((status) => status === 503).length, 3 * streamsMax);
    const { each } = await workers.status();
    t.same(
      Object.values(each).map((worker) => worker?.["liveClients"]),
      [streamsMax / 2, streamsMax / 2],
    );
    t.equal(metricIn(await workers.metrics(), "tollgate_api_live_clients"), streamsMax);

    const lists = Array.from({ length: 60 }, (_, block) => get(`/api/v1/blocks?limit=${(block % 50) + 1}`));
    t.ok((await Promise.all(lists)).every(({ status }) => status === 200));
    const found = await countConnections(services.postgresUrl, "api");
    t.ok(found > 0 && found <= connectionsMax, `${found} connections`);
  });

  await t.test("a reload is taken by both, or by none", async (t) => {
    writeFileSync(file, `${text}names: { "${bob}": "Bob the builder" }\n`);
    const abi = [{ type: "function", name: "glitter", inputs: [], outputs: [] }];
    writeFileSync(join(contracts, "gold.json"), JSON.stringify({ name: "Gold", address: gold, abi }));
    t.match(await reloadInTurn(workers), { body: { outcome: "changed" } });
    for (let calls = 0; calls < 10; calls += 1) {
      t.match((await get(`/address/${bob}`)).body, "Bob the builder", "whichever of them is asked");
      t.equal((await get("/api/v1/network/contracts/Gold/abi.json")).status, 200);
    }
    writeFileSync(join(contracts, "bad.json"), "{}");
    t.match(await reloadInTurn(workers), { status: 409, body: { problems: [/bad\.json/] } });
    rmSync(join(contracts, "bad.json"));
    writeFileSync(file, readFileSync(file, "utf8").replace("workers: 2", "workers: 3"));
    t.match((await reloadInTurn(workers)).body.problems, [
      /postgres\.connectionsMax: at least 6 for 3 workers/,
    ]);
    writeFileSync(file, readFileSync(file, "utf8").replace("workers: 3", "workers: 1"));
    t.match((await reloadInTurn(workers)).body.problems, [/workers cannot change without a restart/]);
    const { each } = await workers.status();
    t.equal(hashOf(each["worker-1"]), hashOf(each["worker-2"]));
    for (const worker of Object.values(each)) t.match(JSON.stringify(worker), '"outcome":"refused"');
  });

  await t.test(
    "one that is killed is replaced while requests are answered; the other one follows on",
    async (t) => {
      const [leader = ""] = await leaders();
      const pid = await workers.pidOf(leader);
      process.kill(pid, "SIGKILL");
      await waitFor("it is gone", () => !isRunning(pid));
      for (let calls = 0; calls < 20; calls += 1) {
        t.equal((await get("/api/v1/blocks/0")).status, 200, "meanwhile");
      }
      t.equal((await workers.replaced(leader, pid)).deaths, 1);
      t.equal(metricIn(await workers.metrics(), "tollgate_worker_deaths_total", `worker="${leader}"`), 1);
      await followed();
      await waitFor("one writes", async () => (await leaders()).length === 1 || undefined);
      const { each } = await workers.status();
      t.equal(
        hashOf(each["worker-1"]),
        hashOf(each["worker-2"]),
        "it runs with what the other one runs with, not with the file that was refused",
      );
      t.match((await get(`/address/${bob}`)).body, "Bob the builder");
    },
  );

  await t.test("a restart replaces one after the other, and no request fails", async (t) => {
    t.match(await runRestart("api/main.ts", workers.opsUrl), {
      code: 2,
      output: /workers cannot change while workers are replaced/,
    });
    if (!allowMigration(t)) return t.plan(1, "net.ipv4.tcp_migrate_req is 0 and not ours to set");
    writeFileSync(file, text.replace("redisCommandTimeoutMs: 5000", "redisCommandTimeoutMs: 5001"));
    const before = (await workers.status()).workers.processes.map(({ pid }) => pid);
    const load = startLoad(async (agent) => {
      const { status } = await get("/api/v1/blocks/0", { ...(agent && { agent }) });
      return status === 200 ? undefined : `${status}`;
    });
    const { code, output } = await runRestart("api/main.ts", workers.opsUrl);
    const { calls, failures } = await load.stop();
    t.equal(code, 0, output);
    t.match(output, /0 of 2 processes are replaced\n(.*\n)*2 of 2 processes are replaced/);
    t.same(failures, [], "none was refused, cut or answered with an error");
    t.ok(calls > 100, `${calls} requests`);
    const after = (await workers.status()).workers.processes;
    t.equal(after.filter(({ pid }) => before.includes(pid)).length, 0);
    await followed();
  });

  await t.test("SIGTERM ends all of them, in order", async (t) => {
    const pids = (await workers.status()).workers.processes.flatMap(({ pid }) => pid ?? []);
    t.equal(pids.length, 2);
    api.kill("SIGTERM");
    t.equal((await api.ended).code, 0);
    t.same(pids.filter(isRunning), []);
  });
});

let lastClient = 0;

/** One who has asked for nothing yet. */
function nextClient(): string {
  lastClient += 1;
  return `198.51.${(lastClient >> 8) % 256}.${lastClient % 256}`;
}

type Asked = { client: string; agent: Agent };

/** A request, over `agent` or on a connection of its own. Rejects where the connection fails. */
function getOnce({
  port,
  path,
  client,
  agent,
}: { port: number; path: string } & Pick<Asked, "client"> & Partial<Asked>): Promise<{
  status: number;
  body: string;
}> {
  return new Promise((resolve, reject) => {
    const headers = { "X-Forwarded-For": client };
    const sent = request({ port, path, headers, agent: agent ?? false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

function isLeader(worker: Record<string, unknown> | null | undefined): boolean {
  const index = worker?.["index"];
  return typeof index === "object" && index !== null && "isLeader" in index && index.isLeader === true;
}

/** Connections of that name that are open now. */
async function countConnections(url: string, name: string): Promise<number> {
  const connection = await connectPostgres({ url, name: "test", logger: pino({ level: "silent" }) });
  const { rows } = await connection.query(
    "select count(*)::int as open from pg_stat_activity where application_name = $1 and datname = current_database()",
    [name],
  );
  await connection.end();
  return readInteger(onlyRow(rows), "open");
}
