import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { faucetAddress, randomAddress } from "../../test/faucet/support/outside-wallet.ts";
import { type FaucetUnderTest, startFaucet } from "../../test/faucet/support/start-faucet.ts";
import { type AnvilUnderTest, startAnvil } from "../../test/helpers/anvil.ts";
import { startRedis } from "../../test/helpers/redis.ts";
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

const stops: (() => unknown)[] = [];
try {
  await bench();
} finally {
  for (const stop of stops) await stop();
}

async function bench(): Promise<void> {
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t, { blockTimeSeconds })]);
  const addresses = Array.from({ length: atOnce + oneByOne }, randomAddress);
  const faucet = await startFaucet(t, {
    redisUrl: redis.url,
    upstream: anvil.url,
    allowlist: addresses.map((address) => ({ address })),
  });
  const all = await claimAtOnce({ faucet, anvil, addresses: addresses.slice(0, atOnce) });
  const single = await claimOneByOne({ faucet, addresses: addresses.slice(atOnce) });
  const payments = await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 });
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

async function claimAtOnce({
  faucet,
  anvil,
  addresses,
}: {
  faucet: FaucetUnderTest;
  anvil: AnvilUnderTest;
  addresses: readonly string[];
}): Promise<{ acceptedMs: number; broadcastMs: number; confirmedMs: number }> {
  const startedMs = performance.now();
  const sinceStart = () => performance.now() - startedMs;
  const broadcast = until(async () => {
    const nonce = await anvil.rpc("eth_getTransactionCount", [faucetAddress, "pending"]);
    return Number(nonce) === addresses.length;
  }).then(sinceStart);
  const answers = await Promise.all(addresses.map((address) => faucet.claim({ address, website: "" })));
  const refused = answers.find(({ status }) => status !== 202);
  if (refused !== undefined) throw new Error(`a claim was refused: ${refused.json.detail}`);
  const acceptedMs = sinceStart();
  const broadcastMs = await broadcast;
  await until(async () => {
    const { waiting, underWay } = JSON.parse((await faucet.get("/status")).text);
    return waiting + underWay === 0;
  });
  return { acceptedMs, broadcastMs, confirmedMs: sinceStart() };
}

async function claimOneByOne({
  faucet,
  addresses,
}: {
  faucet: FaucetUnderTest;
  addresses: readonly string[];
}): Promise<number> {
  const startedMs = performance.now();
  for (const address of addresses) {
    const { json } = await faucet.claim({ address, website: "" });
    await faucet.ended(json.claim.id);
  }
  return performance.now() - startedMs;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(pollMs);
}
