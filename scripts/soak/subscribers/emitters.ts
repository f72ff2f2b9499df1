import { getCreateAddress } from "ethers/address";
import { developmentWallet, signed } from "../../../test/fakes/validators/rpc.ts";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";
import type { Actor } from "../steps/run-steps.ts";

/** The criteria of a subscription: sent with the request, and compared with the chain later. */
export type LogRequest = { filter: { address?: string; topics?: (string | string[])[] } };

/** The chain at the end of the run, read without gateways and validators. */
export type SeenChain = {
  blocks: readonly { number: number; key: string }[];
  logs(request: LogRequest): { number: number; key: string }[];
};

/**
 * Code that emits one log without data on each call; the topic is the first 32 bytes of input: PUSH0 CALLDATALOAD PUSH0
 * PUSH0 LOG1 STOP, behind its init code.
 */
const emitterCode = "0x655f355f5fa1005f526006601af3";
const topicsCount = 4;
const topic = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;

/** Two contracts whose logs differ by address and topic. Transactions bypass the validators, which have faults. */
export async function deployEmitters(cluster: Validators) {
  const wallet = developmentWallet(0);
  const addresses = [0, 1].map((nonce) => getCreateAddress({ from: wallet.address, nonce }).toLowerCase());
  const send = async (changes: { to: string | null; data: string }) => {
    // Asked each time: a transaction that comes while a block is being made is dropped with the pool (`anvil_dropAllTransactions`).
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
    /** All logs, or those of one address, one topic, both, or either of two topics. */
    request(index: number): LogRequest {
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
    /** One log a turn. */
    async *keepEmitting(random: () => number): Actor {
      for (;;) {
        const to = addresses[Math.floor(random() * addresses.length)] ?? "";
        await send({ to, data: topic(1 + Math.floor(random() * topicsCount)) });
        yield;
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
        .filter((log) => isWanted(log, filter))
        .map((log) => ({ number: numberOf(log, "blockNumber"), key: logKey(log) })),
  };
}

function isWanted(log: unknown, { address, topics }: LogRequest["filter"]): boolean {
  const wanted = topics?.[0];
  const [first] = arrayOf(log, "topics");
  return (
    (address === undefined || textOf(log, "address") === address) &&
    (wanted === undefined || wanted === first || (Array.isArray(wanted) && wanted.includes(String(first))))
  );
}

/** A log's identity. */
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
