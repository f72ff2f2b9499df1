import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { getAddress } from "ethers/address";
import { pino } from "pino";
import { z } from "zod";
import { readFaucetConfig } from "../../faucet/config.ts";
import { start } from "../../faucet/start.ts";
import { type OwnAnvil, startOwnAnvil } from "../processes/own-anvil.ts";
import { startOwnRedis } from "../processes/own-redis.ts";
import type { Teardown } from "../processes/teardown.ts";
import { readPayments } from "../soak/faucet-crashes/read-payments.ts";

/*
 * How soon claims are paid on a dev chain with the network's block time, all at once beside one after the other:
 *
 *   npm run bench -- faucet
 *
 * Ends with an error where a claim was not paid exactly once. Takes about a minute.
 */

const atOnce = 500;
const oneByOne = 10;
const blockTimeSeconds = 2;
const pollMs = 10;
const noLimit = 1_000_000;
const statusSchema = z.object({ waiting: z.number(), underWay: z.number() });
const acceptedSchema = z.object({ claim: z.object({ id: z.string() }) });

const stops: (() => unknown)[] = [];
try {
  await bench();
} finally {
  for (const stop of stops) await stop();
}

async function bench(): Promise<void> {
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  const [redis, anvil] = await Promise.all([startOwnRedis(t), startOwnAnvil(t, { blockTimeSeconds })]);
  const addresses = Array.from({ length: atOnce + oneByOne }, randomAddress);
  const faucet = await startFaucet(t, { redisUrl: redis.url, upstream: anvil.url, addresses });
  const all = await claimAtOnce({ faucet, anvil, addresses: addresses.slice(0, atOnce) });
  const single = await claimOneByOne({ faucet, addresses: addresses.slice(atOnce) });
  const payments = await readPayments({ anvil, wallet: faucet.wallet, firstBlock: 0 });
  const paid = new Set(payments.map(({ to }) => to));
  if (payments.length !== addresses.length || paid.size !== addresses.length) {
    throw new Error(`${payments.length} payments to ${paid.size} addresses for ${addresses.length} claims`);
  }
  const second = (lengthMs: number) => `${(lengthMs / 1000).toFixed(2)} s`;
  process.stdout.write(
    `${[
      `${atOnce} claims at once, blocks of ${blockTimeSeconds} s:`,
      `  all accepted after   ${second(all.acceptedMs)}`,
      `  all broadcast after  ${second(all.broadcastMs)}`,
      `  all confirmed after  ${second(all.confirmedMs)}  (${second(all.confirmedMs / atOnce)} a claim)`,
      `${oneByOne} claims, each after the one before was confirmed:`,
      `  ${second(single / oneByOne)} a claim, ${(single / oneByOne / (all.confirmedMs / atOnce)).toFixed(0)} times as long`,
    ].join("\n")}\n`,
  );
}

type MeasuredFaucet = {
  wallet: string;
  /** The claim's id; rejects where it is refused. */
  claim(address: string): Promise<string>;
  isConfirmed(id: string): Promise<boolean>;
  status(): Promise<{ waiting: number; underWay: number }>;
};

/** The shipped faucet, which polls the chain more often than in production. */
async function startFaucet(
  t: Teardown,
  { redisUrl, upstream, addresses }: { redisUrl: string; upstream: string; addresses: readonly string[] },
): Promise<MeasuredFaucet> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const allowlistFile = join(folder, "allowlist.yaml");
  const entries = addresses.map((address) => ({ address, label: "bench" }));
  // JSON is YAML.
  await writeFile(allowlistFile, JSON.stringify({ addresses: entries }));
  const shipped = readFaucetConfig({
    file: fileURLToPath(new URL("../../config/faucet.yaml", import.meta.url)),
    env: { REDIS_URL: redisUrl, FAUCET_UPSTREAM: upstream },
  });
  const faucet = await start(
    {
      ...shipped,
      port: 0,
      private: { ...shipped.private, port: 0 },
      ops: { ...shipped.ops, port: 0 },
      allowlistFile,
      pollMs: 20,
      idlePollMs: 100,
      limits: { ...shipped.limits, perClient: noLimit, overall: noLimit, refusals: noLimit },
    },
    { logger: pino({ level: "silent" }) },
  );
  t.teardown(() => faucet.stop());
  const url = `http://127.0.0.1:${faucet.address.port}`;
  return {
    wallet: faucet.address.wallet,
    async claim(address) {
      const response = await fetch(`${url}/claim`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ address, website: "" }),
      });
      const text = await response.text();
      if (response.status !== 202) throw new Error(`a claim was refused: ${text}`);
      return acceptedSchema.parse(JSON.parse(text)).claim.id;
    },
    isConfirmed: async (id) =>
      (await (await fetch(`${url}/claims/${id}`)).text()).includes('"status":"confirmed"'),
    status: async () => statusSchema.parse(await (await fetch(`${url}/status`)).json()),
  };
}

function randomAddress(): string {
  return getAddress(`0x${randomBytes(20).toString("hex")}`);
}

async function claimAtOnce({
  faucet,
  anvil,
  addresses,
}: {
  faucet: MeasuredFaucet;
  anvil: OwnAnvil;
  addresses: readonly string[];
}): Promise<{ acceptedMs: number; broadcastMs: number; confirmedMs: number }> {
  const startedMs = performance.now();
  const sinceStart = () => performance.now() - startedMs;
  const broadcast = until(async () => {
    const nonce = await anvil.rpc("eth_getTransactionCount", [faucet.wallet, "pending"]);
    return Number(nonce) === addresses.length;
  }).then(sinceStart);
  await Promise.all(addresses.map((address) => faucet.claim(address)));
  const acceptedMs = sinceStart();
  const broadcastMs = await broadcast;
  await until(async () => {
    const { waiting, underWay } = await faucet.status();
    return waiting + underWay === 0;
  });
  return { acceptedMs, broadcastMs, confirmedMs: sinceStart() };
}

async function claimOneByOne({
  faucet,
  addresses,
}: {
  faucet: MeasuredFaucet;
  addresses: readonly string[];
}): Promise<number> {
  const startedMs = performance.now();
  for (const address of addresses) {
    const id = await faucet.claim(address);
    await until(() => faucet.isConfirmed(id));
  }
  return performance.now() - startedMs;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(pollMs);
}
