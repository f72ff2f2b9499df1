import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findProgram } from "../../processes/find-program.ts";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import { startOwnRedis } from "../../processes/own-redis.ts";
import { createIndex } from "../../soak/follower-crashes/create-index.ts";
import { until } from "../../soak/follower-crashes/until.ts";
import { measureLive } from "./measure-live.ts";
import { type Measured, runWrk } from "./run-wrk.ts";
import { type Server, startApiServer, startBareServer } from "./start-server.ts";
import { prepareWorks, type Work } from "./works.ts";

const usage = `Usage: npm run bench -- api [--rounds N] [--seconds N] [--clients N,N…] [--only WORK] [--check]

Requests a CPU second of the API against those of a bare Fastify handler, in turns in the same run, after its answers have
been looked at; then how soon clients of /api/v1/live have a block. --check ends with 1 where a ratio is below half its goal.
Needs wrk; Linux only, whose /proc tells a process's CPU time.
`;

const transactions = 1300;
const transactionsPerBlock = 20;
const emptyBlocks = 500;
const connections = 50;
const sender = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  if ((await findProgram({ names: ["wrk"], path: process.env["PATH"] })) === undefined) {
    process.stderr.write("wrk is not installed\n");
    process.exitCode = 1;
    return;
  }
  const stops: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  try {
    await bench(t, options);
  } finally {
    for (const stop of stops) await stop();
  }
}

type Options = { rounds: number; seconds: number; clients: number[]; only: string; check: boolean };

function readOptions(args: readonly string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "3" },
        seconds: { type: "string", default: "2" },
        clients: { type: "string", default: "200,1000,2000" },
        only: { type: "string", default: "" },
        check: { type: "boolean", default: false },
      },
    });
    const clients = values.clients
      .split(",")
      .filter((text) => text !== "")
      .map(Number);
    const options = { ...values, rounds: Number(values.rounds), seconds: Number(values.seconds), clients };
    const isUsable = [options.rounds, options.seconds, ...clients].every((value) => value >= 1);
    return isUsable ? options : undefined;
  } catch {
    return undefined;
  }
}

async function bench(
  t: { teardown: (stop: () => unknown) => unknown },
  { rounds, seconds, clients, only, check }: Options,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-api-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [anvil, redis, postgres] = await Promise.all([
    startOwnAnvil(t),
    startOwnRedis(t),
    startOwnPostgres(t),
  ]);
  const fullBlock = await makeChain(anvil);
  const height = Number(await anvil.rpc("eth_blockNumber"));
  const services = {
    redisUrl: redis.url,
    postgresUrl: await createIndex(postgres.url, "bench_api"),
    upstream: anvil.url,
  };
  const bare = await startBareServer(t);
  const kept = await startApiServer(t, { name: "kept", folder, cacheBytesMax: 67_108_864, services });
  const unkept = await startApiServer(t, { name: "unkept", folder, cacheBytesMax: 1, services });
  await until("the chain is indexed", async () => (await indexedBlock(kept)) === height);

  const works = await prepareWorks({ kept, unkept, height, fullBlock });
  const load = (server: Server, requests: Work["requests"]) =>
    runWrk({ server, requests, folder, connections, seconds });
  const missed: string[] = [];
  process.stdout.write(
    `work                     a CPU second     bare  ratio   goal    p50      p99 (${connections} connections)\n`,
  );
  for (const work of works.filter(({ name }) => name.includes(only))) {
    // A first round warms V8 up, so that neither server is measured with uncompiled code.
    await load(work.server, work.requests);
    await load(bare, { paths: ["/"] });
    const pairs: { bare: Measured; own: Measured }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({ bare: await load(bare, { paths: ["/"] }), own: await load(work.server, work.requests) });
    }
    const pair = pairs.toSorted((one, other) => ratioOf(one) - ratioOf(other))[Math.floor(rounds / 2)];
    if (pair === undefined) continue;
    const { own } = pair;
    const ratio = ratioOf(pair);
    if (ratio < work.goal / 2) missed.push(`${work.name}: ${ratio.toFixed(2)} of ${work.goal}`);
    process.stdout.write(
      `${work.name.padEnd(24)} ${column(own.perCpuSecond, 12)} ${column(pair.bare.perCpuSecond, 8)}   ${ratio.toFixed(2)}   ${work.goal.toFixed(2)} ` +
        `${own.p50Ms.toFixed(1).padStart(5)} ms ${own.p99Ms.toFixed(1).padStart(5)} ms\n`,
    );
  }
  for (const count of clients) {
    const result = await measureLive({ server: kept, clients: count, mine: () => mineOne(anvil) });
    const [median, slowest] = [
      result.allAfterMs[Math.floor(result.allAfterMs.length / 2)],
      result.allAfterMs.at(-1),
    ];
    process.stdout.write(
      `live, ${count} clients: all had a block ${Math.round(median ?? 0)} ms after it was mined (median), ${Math.round(slowest ?? 0)} at most; ` +
        `${result.cpuMsPerBlock.toFixed(0)} ms of a processor a block, ${(result.cpuMsPerBlock / 20).toFixed(1)} % of one at a block in 2 s\n`,
    );
  }
  if (check && missed.length > 0) {
    process.stderr.write(`below half the goal: ${missed.join("; ")}\n`);
    process.exitCode = 1;
  }
}

const ratioOf = ({ bare, own }: { bare: Measured; own: Measured }) => own.perCpuSecond / bare.perCpuSecond;
const column = (value: number, width: number) => String(Math.round(value)).padStart(width);

/** @returns the number of a block with transactions. */
async function makeChain(anvil: OwnAnvil): Promise<number> {
  await anvil.rpc("evm_setAutomine", [false]);
  let fullBlock = 0;
  for (let sent = 0; sent < transactions; sent += 1) {
    // One after the other: anvil gives those that come at once the same nonce.
    const to = `0x${(1 + (sent % 997)).toString(16).padStart(40, "0")}`;
    await anvil.rpc("eth_sendTransaction", [{ from: sender, to, value: "0x1" }]);
    if ((sent + 1) % transactionsPerBlock === 0) fullBlock = await mineOne(anvil);
  }
  await anvil.rpc("anvil_mine", [`0x${emptyBlocks.toString(16)}`]);
  return fullBlock;
}

async function mineOne(anvil: OwnAnvil): Promise<number> {
  await anvil.rpc("evm_mine");
  return Number(await anvil.rpc("eth_blockNumber"));
}

async function indexedBlock({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/api/v1/chain`)).text();
  return Number(/"indexedBlock":(\d+)/.exec(text)?.[1] ?? -1);
}
