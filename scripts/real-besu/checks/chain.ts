import { z } from "zod";
import type { Verdict } from "../check.ts";
import type { Rig } from "../rig.ts";
import { isMined, nonceOf, send, transfer } from "../transactions.ts";

const blockSchema = z.object({
  number: z.string(),
  hash: z.string(),
  timestamp: z.string(),
  baseFeePerGas: z.string().optional(),
});
const hex = (number: number) => `0x${number.toString(16)}`;

/** A block that was announced stays, on every node; the tags of finality mean it, though Besu itself knows none of them here. */
export async function finality(rig: Rig): Promise<Verdict> {
  const number = await rig.height();
  const before = await hashesAt(rig, number);
  if (new Set(before).size !== 1) return { ok: false, seen: `block ${number} is ${before.join(", ")}` };
  const safe = await blockOf(rig, "safe");
  const finalized = await blockOf(rig, "finalized");
  const own = await rig.node(0, "eth_getBlockByNumber", ["finalized", false]);
  await rig.until("three blocks more", async () => (await rig.height()) >= number + 3);
  const after = await hashesAt(rig, number);
  const isKept = after.every((hash) => hash === before[0]);
  const isTagged = [safe, finalized].every((block) => Number(block.number) >= number);
  const ownWords = own?.error === undefined ? "an answer" : `${own.error.code} ${own.error.message}`;
  return {
    ok: isKept && isTagged && own !== undefined,
    seen: `block ${number} is the same on all nodes three blocks later; safe is ${Number(safe.number)}, finalized ${Number(finalized.number)}; a validator itself says ${ownWords}`,
  };
}

async function blockOf(rig: Rig, tag: string) {
  return blockSchema.parse((await rig.gateway("eth_getBlockByNumber", [tag, false])).result);
}

async function hashesAt(rig: Rig, number: number): Promise<string[]> {
  return Promise.all(
    rig.nodes.map(async ({ name }, index) => {
      const answer = await rig.node(index, "eth_getBlockByNumber", [hex(number), false]);
      return blockSchema.safeParse(answer?.result).data?.hash ?? `${name} has none`;
    }),
  );
}

/** The network is free of charge: no base fee, a price of zero is enough, and it is what clients are told. */
export async function fees(rig: Rig): Promise<Verdict> {
  const { result: price } = await rig.gateway("eth_gasPrice");
  const { baseFeePerGas = "0x0", number } = await blockOf(rig, "latest");
  const sent = await send(rig, await nonceOf(rig), transfer(0n));
  const seconds = await rig.until("a transaction without a price is mined", () => isMined(rig, sent));
  return {
    ok: Number(price) === 0 && Number(baseFeePerGas) === 0,
    seen: `eth_gasPrice ${String(price)}, base fee of block ${Number(number)} ${Number(baseFeePerGas)}, a price of 0 mined after ${seconds} s`,
  };
}

/** A transaction before its turn waits in the pool, and is mined with the one that it waited for. */
export async function waitingTransaction(rig: Rig): Promise<Verdict> {
  const nonce = await nonceOf(rig);
  const later = await send(rig, nonce + 1, transfer(1n));
  const height = await rig.height();
  await rig.until("two blocks more", async () => (await rig.height()) >= height + 2);
  if (await isMined(rig, later))
    return { ok: false, seen: "a transaction was mined before the one before it" };
  const earlier = await send(rig, nonce, transfer(1n));
  const seconds = await rig.until("both mined", async () =>
    (await Promise.all([earlier, later].map((hash) => isMined(rig, hash)))).every(Boolean),
  );
  return { ok: true, seen: `it waited two blocks, and both were mined ${seconds} s after the first came` };
}

/** Logs of a range, the bound of a range, and a filter that tells of each block once. */
export async function logsAndFilters(rig: Rig): Promise<Verdict> {
  const from = await rig.height();
  const { result: filter } = await rig.gateway("eth_newBlockFilter");
  await rig.until("three blocks more", async () => (await rig.height()) >= from + 3);
  const told = z.array(z.string()).parse((await rig.gateway("eth_getFilterChanges", [filter])).result);
  const again = z.array(z.string()).parse((await rig.gateway("eth_getFilterChanges", [filter])).result);
  const logs = await rig.gateway("eth_getLogs", [
    { fromBlock: hex(Math.max(0, from - 20)), toBlock: "latest" },
  ]);
  const wide = await rig.gateway("eth_getLogs", [{ fromBlock: "0x0", toBlock: hex(10_000_000) }]);
  const isOnce = told.length >= 3 && told.every((hash) => !again.includes(hash));
  return {
    ok: isOnce && Array.isArray(logs.result) && wide.error !== undefined,
    seen: `a filter told of ${told.length} blocks once; logs of 20 blocks are a list; of ten million "${wide.error?.message ?? "no refusal"}"`,
  };
}
