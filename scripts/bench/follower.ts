import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { tokenCode } from "../../test/fakes/token/token-code.ts";
import { abiText, tokenLogs } from "../../test/fakes/token/token-logs.ts";
import { type OwnAnvil, startOwnAnvil } from "../processes/own-anvil.ts";
import { type OwnPostgres, startOwnPostgres } from "../processes/own-postgres.ts";
import { createIndex } from "../soak/follower-crashes/create-index.ts";
import { startOwnFollower } from "../soak/follower-crashes/own-follower.ts";
import { readIndex } from "../soak/follower-crashes/read-index.ts";
import { until } from "../soak/follower-crashes/until.ts";
import { childrenOf, cpuSeconds } from "./gateway/process-usage.ts";

/*
 * What the follower's work costs: a backfill of full and empty blocks of a real dev chain, in CPU time of this process and
 * of PostgreSQL together, and how soon a new block is indexed:
 *
 *   npm run bench -- follower
 *
 * Ends with an error where a row is missing. The first backfill is the one that a process begins with, before V8 has
 * compiled it. Takes about a minute; Linux only, whose /proc tells PostgreSQL's time.
 */

const fullBlocks = 100;
const transactionsPerBlock = 100;
const emptyBlocks = 500;
const newBlocks = 20;
const blockTimeMs = 1000;

const sender = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const token = `0x${"70".repeat(20)}`;

const stops: (() => unknown)[] = [];
const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
try {
  await bench();
} finally {
  for (const stop of stops) await stop();
}

async function bench(): Promise<void> {
  const [anvil, postgres] = await Promise.all([startOwnAnvil(t), startOwnPostgres(t, { fsync: "on" })]);
  await makeChain(anvil);
  const transactions = fullBlocks * transactionsPerBlock;
  process.stdout.write(
    `${transactions} transactions in ${fullBlocks} blocks, every other one a transfer of a token; ${emptyBlocks} empty blocks\n`,
  );
  for (const name of ["first", "second", "third"]) {
    await backfill({ name, anvil, postgres, transactions });
  }
  await follow({ anvil, postgres });
}

async function makeChain(anvil: OwnAnvil): Promise<void> {
  await anvil.rpc("anvil_setCode", [token, tokenCode({ name: { returns: abiText("Token") } })]);
  await anvil.rpc("evm_setAutomine", [false]);
  for (let block = 0; block < fullBlocks; block += 1) await mineFull(anvil, block);
  for (let block = 0; block < emptyBlocks; block += 1) await anvil.rpc("evm_mine");
}

async function mineFull(anvil: OwnAnvil, block: number): Promise<void> {
  // One after the other: anvil gives transactions that come at once the same nonce.
  for (let index = 0; index < transactionsPerBlock; index += 1) {
    const to = `0x${(1 + ((block * 31 + index) % 997)).toString(16).padStart(40, "0")}`;
    const fields =
      index % 2 === 0
        ? { to, value: "0x1" }
        : { to: token, data: tokenLogs.erc20(sender, to, BigInt(index)) };
    await anvil.rpc("eth_sendTransaction", [{ from: sender, gas: "0xc350", ...fields }]);
  }
  await anvil.rpc("evm_mine");
}

async function backfill({
  name,
  anvil,
  postgres,
  transactions,
}: {
  name: string;
  anvil: OwnAnvil;
  postgres: OwnPostgres;
  transactions: number;
}): Promise<void> {
  const postgresUrl = await createIndex(postgres.url, `bench_${name}`);
  const height = Number(await anvil.rpc("eth_blockNumber"));
  const before = { node: process.cpuUsage(), postgresMs: cpuMsOf(postgres.pid), ms: performance.now() };
  const follower = await startOwnFollower(t, {
    url: anvil.url,
    postgresUrl,
    headPollMs: 2000,
    pollMs: 2000,
    sessionPollMs: 1000,
  });
  await until("the chain is indexed", () => (follower.standing().next ?? 0) > height, {
    withinMs: 300_000,
    everyMs: 20,
  });
  const wallMs = performance.now() - before.ms;
  const used = process.cpuUsage(before.node);
  const nodeMs = (used.user + used.system) / 1000;
  const postgresMs = cpuMsOf(postgres.pid) - before.postgresMs;
  await follower.stop();
  const { tx, transfer, block } = await readIndex(postgresUrl);
  const isWhole =
    tx.length === transactions && transfer.length === transactions / 2 && block.length === height + 1;
  if (!isWhole)
    throw new Error(`${tx.length} transactions, ${transfer.length} transfers, ${block.length} blocks`);
  const perSecond = Math.round((transactions / (nodeMs + postgresMs)) * 1000);
  process.stdout.write(
    `${name.padEnd(7)} ${perSecond} transactions a CPU second (Node ${Math.round(nodeMs)} ms, PostgreSQL ${postgresMs} ms); ` +
      `${Math.round((height / wallMs) * 1000)} blocks/s, ${Math.round((transactions / wallMs) * 1000)} transactions/s of wall time, the dev chain's included\n`,
  );
}

async function follow({ anvil, postgres }: { anvil: OwnAnvil; postgres: OwnPostgres }): Promise<void> {
  const postgresUrl = await createIndex(postgres.url, "bench_following");
  const webSocketUrl = anvil.url.replace("http", "ws");
  const follower = await startOwnFollower(t, {
    url: anvil.url,
    postgresUrl,
    webSocketUrl,
    headPollMs: 2000,
    pollMs: 2000,
  });
  const height = Number(await anvil.rpc("eth_blockNumber"));
  await until("the chain is indexed", () => (follower.standing().next ?? 0) > height, {
    withinMs: 300_000,
  });
  const tookMs: number[] = [];
  let behindMax = 0;
  follower.heads.onHead(() => {
    behindMax = Math.max(behindMax, follower.standing().behindBlocks ?? 0);
  });
  for (let block = 1; block <= newBlocks; block += 1) {
    const untilMs = performance.now() + blockTimeMs;
    await mineFull(anvil, block);
    const startMs = performance.now();
    await until("the block is indexed", () => (follower.standing().next ?? 0) > height + block, {
      everyMs: 2,
    });
    tookMs.push(performance.now() - startMs);
    await sleep(Math.max(0, untilMs - performance.now()));
  }
  tookMs.sort((one, other) => one - other);
  const at = (share: number) => Math.round(tookMs[Math.floor(share * (tookMs.length - 1))] ?? 0);
  process.stdout.write(
    `${newBlocks} new blocks of ${transactionsPerBlock} transactions: indexed after ${at(0.5)} ms (median), ${at(1)} ms at most; ` +
      `${behindMax} block behind at most\n`,
  );
}

/** CPU time of a server's processes. A process that ends takes its time with it: one connection's worth. */
function cpuMsOf(pid: number): number {
  return Math.round(1000 * cpuSeconds([pid, ...childrenOf(pid)]));
}
