import { setTimeout as sleep } from "node:timers/promises";
import { getCreateAddress } from "ethers";
import { developmentWallet, signed } from "../../../test/fakes/validators/rpc.ts";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";

/** A subscriber's criteria, as it sends them and as the chain is compared with them. */
export type LogWish = { filter: { address?: string; topics?: (string | string[])[] } };

/** The chain as it was in the end, behind all gateways and validators. */
export type SeenChain = {
  blocks: readonly { number: number; key: string }[];
  logs(wish: LogWish): { number: number; key: string }[];
};

/**
 * Code whose call emits one log without data, with its first 32 bytes of input as the topic: PUSH0 CALLDATALOAD PUSH0
 * PUSH0 LOG1 STOP, behind what puts it in place.
 */
const emitterCode = "0x655f355f5fa1005f526006601af3";
const topicsCount = 4;
const emitEveryMs = 60;
const topic = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;

/** Two contracts whose logs differ by address and topic. Transactions go past the validators, whom faults befall. */
export async function deployEmitters(cluster: Validators) {
  const wallet = developmentWallet(0);
  const addresses = [0, 1].map((nonce) => getCreateAddress({ from: wallet.address, nonce }).toLowerCase());
  const send = async (changes: { to: string | null; data: string }) => {
    // Asked each time: what comes while a block is being made is dropped with the pool, as `anvil_dropAllTransactions` does.
    const counted = await cluster.anvil.ask("eth_getTransactionCount", [wallet.address, "pending"]);
    const nonce = Number("result" in counted ? counted.result : 0);
    const raw = await signed(wallet, nonce, { ...changes, value: 0n });
    await cluster.anvil.ask("eth_sendRawTransaction", [raw]);
  };
  cluster.pause();
  for (const _ of addresses) await send({ to: null, data: emitterCode });
  await cluster.mine(1);
  cluster.resume();

  return {
    /** Some want all logs, some those of one address, of one topic, of both, of one topic or another. */
    wish(index: number): LogWish {
      const address = addresses[index % 2] ?? "";
      const one = topic(1 + (index % topicsCount));
      const other = topic(1 + ((index + 1) % topicsCount));
      const filters = [
        {},
        { address },
        { topics: [one] },
        { address, topics: [one] },
        { topics: [[one, other]] },
      ];
      return { filter: filters[index % filters.length] ?? {} };
    },
    async keepEmitting(isOver: () => boolean, random: () => number): Promise<void> {
      while (!isOver()) {
        const to = addresses[Math.floor(random() * addresses.length)] ?? "";
        await send({ to, data: topic(1 + Math.floor(random() * topicsCount)) });
        await sleep(emitEveryMs);
      }
    },
  };
}

export async function readChain(cluster: Validators): Promise<SeenChain> {
  const answer = await cluster.anvil.ask("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest" }]);
  const logs = "result" in answer && Array.isArray(answer.result) ? answer.result : [];
  const blocks: { number: number; key: string }[] = [];
  for (let number = 0; number <= cluster.height(); number += 1) {
    blocks.push({ number, key: cluster.block(number)?.hash ?? "" });
  }
  return {
    blocks,
    logs: ({ filter }) =>
      logs
        .filter((log) => isWished(log, filter))
        .map((log) => ({ number: numberOf(log, "blockNumber"), key: logKey(log) })),
  };
}

function isWished(log: unknown, { address, topics }: LogWish["filter"]): boolean {
  const wanted = topics?.[0];
  const [first] = arrayOf(log, "topics");
  return (
    (address === undefined || textOf(log, "address") === address) &&
    (wanted === undefined || wanted === first || (Array.isArray(wanted) && wanted.includes(String(first))))
  );
}

/** Which log it is. */
export function logKey(log: unknown): string {
  return `${textOf(log, "blockHash")} ${textOf(log, "transactionHash")} ${textOf(log, "logIndex")}`;
}

export function numberOf(value: unknown, member: string): number {
  return Number(textOf(value, member));
}

export function textOf(value: unknown, member: string): string {
  return String(memberOf(value, member));
}

function arrayOf(value: unknown, member: string): readonly unknown[] {
  const found = memberOf(value, member);
  return Array.isArray(found) ? found : [];
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, member) : undefined;
}
