import { createHash } from "node:crypto";
import { keccak256 } from "ethers/crypto";
import type { AskChain } from "../../gateway/subscriptions/ask-chain.ts";
import type { NewHead } from "../../gateway/upstream/head/publish-heads.ts";

export type ScriptedLog = { address: string; topics: string[] };
export type ScriptedChain = ReturnType<typeof createScriptedChain>;

/** A chain that a test scripts, without sockets or validators. */
export function createScriptedChain() {
  let blocks: { newHead: NewHead; logs: Record<string, unknown>[] }[] = [];
  let epoch = 1;

  function add(logs: readonly ScriptedLog[] = [], seed = ""): NewHead {
    const number = blocks.length;
    const hash = hashOf(`${epoch} ${number} ${seed}`);
    const parentHash = blocks.at(-1)?.newHead.hash ?? `0x${"0".repeat(64)}`;
    const numberHex = `0x${number.toString(16)}`;
    const block = { number: numberHex, hash, parentHash, logsBloom: bloomOf(logs) };
    const newHead = { number: BigInt(number), hash, parentHash, block, numberHex, epoch, skipped: 0n };
    const written = logs.map((log, index) => ({
      logIndex: `0x${index.toString(16)}`,
      blockNumber: numberHex,
      blockHash: hash,
      ...log,
    }));
    blocks.push({ newHead, logs: written });
    return newHead;
  }

  /** What a validator with the whole chain answers. */
  const ask: AskChain = async (method, [param]) => {
    if (method === "eth_getBlockByNumber") return { result: blocks[Number(param)]?.newHead.block ?? null };
    if (method !== "eth_getLogs") return undefined;
    const { blockHash, fromBlock, toBlock, address, topics }: Readonly<Record<string, unknown>> = {
      ...Object(param),
    };
    const found = blocks.filter(({ newHead }) =>
      blockHash === undefined
        ? newHead.number >= BigInt(String(fromBlock)) && newHead.number <= BigInt(String(toBlock))
        : newHead.hash === blockHash,
    );
    const logs = found.flatMap((block) => block.logs);
    return { result: logs.filter((log) => isAsked(log, { address, topics })) };
  };

  return {
    add,
    ask,
    all: () => blocks.map(({ newHead }) => newHead),
    hashes: () => blocks.map(({ newHead }) => newHead.hash),
    /** Takes off all blocks above this number; those that follow differ. */
    revert(number: number): void {
      blocks = blocks.slice(0, number + 1);
      epoch += 1;
    },
  };
}

/** Announces heads as the head tracker does, when a test says so. */
export function createHeadFeed() {
  const onHead = new Set<(head: NewHead) => void>();
  const onEpoch = new Set<(reason: string) => void>();
  let head: NewHead | undefined;
  return {
    upstream: {
      onHead: (listener: (head: NewHead) => void) => addTo(onHead, listener),
      onEpoch: (listener: (reason: string) => void) => addTo(onEpoch, listener),
      headNumber: () => head?.number,
      ask: async () => "unavailable" as const,
    },
    tell(newHead: NewHead): void {
      head = newHead;
      for (const listener of onHead) listener(newHead);
    },
    beginEpoch(): void {
      head = undefined;
      for (const listener of onEpoch) listener("a test");
    },
    listeners: () => onHead.size + onEpoch.size,
  };
}

export const addressOf = (name: string) =>
  `0x${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;
export const topicOf = (name: string) => hashOf(name);

function hashOf(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

function addTo<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function isAsked(
  log: Record<string, unknown>,
  { address, topics }: { address: unknown; topics: unknown },
): boolean {
  const isOf = (wanted: unknown, value: unknown) =>
    wanted === undefined ||
    wanted === null ||
    wanted === value ||
    (Array.isArray(wanted) && wanted.includes(value));
  const own = Array.isArray(log["topics"]) ? log["topics"] : [];
  const wanted = Array.isArray(topics) ? topics : [];
  return isOf(address, log["address"]) && wanted.every((one, place) => isOf(one, own[place]));
}

/** Written out again after the Yellow Paper, so that it is not the gateway's own reading. */
function bloomOf(logs: readonly ScriptedLog[]): string {
  let bloom = 0n;
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const digest = BigInt(keccak256(value));
    for (const pair of [0n, 1n, 2n]) bloom |= 1n << ((digest >> (256n - 16n * (pair + 1n))) & 2047n);
  }
  return `0x${bloom.toString(16).padStart(512, "0")}`;
}
