import { z } from "zod";
import { type AskGateway, askEach, quantitySchema, readAnswer } from "../http/ask-gateway.ts";

const blockSchema = z.object({ number: z.string(), hash: z.string(), transactions: z.array(z.string()) });
const transactionsMax = 10_000;

type SeenBlock = { number: number; hash: string; transactions: readonly string[] };

export type RecentBlocks = {
  numbers(): readonly string[];
  hashes(): readonly string[];
  transactions(): readonly string[];
  /** Takes in what has come since; leaves everything as it is where the gateway does not answer. */
  refresh(): Promise<void>;
};

/** The last blocks of the chain, read through the gateway beside the load. Rejects where that fails at the start. */
export async function readRecentBlocks({
  ask,
  blocksMax,
}: {
  ask: AskGateway;
  blocksMax: number;
}): Promise<RecentBlocks> {
  let blocks: SeenBlock[] = [];
  let numbers: string[] = [];
  let hashes: string[] = [];
  let transactions: string[] = [];

  async function load(): Promise<void> {
    const [head] = await ask([{ method: "eth_blockNumber", params: [] }]);
    const latest = Number(readAnswer(head, { schema: quantitySchema, method: "eth_blockNumber" }));
    const last = blocks.at(-1)?.number ?? -1;
    // A chain that begins anew has lower numbers.
    if (latest < last) blocks = [];
    const first = Math.max(0, latest - blocksMax + 1, (blocks.at(-1)?.number ?? -1) + 1);
    const missing = Array.from({ length: latest - first + 1 }, (_, index) => first + index);
    const answers = await askEach(ask, missing, (number) => ({
      method: "eth_getBlockByNumber",
      params: [hexOf(number), false],
    }));
    const added = readAnswer(answers, { schema: z.array(blockSchema), method: "eth_getBlockByNumber" });
    blocks = [...blocks, ...added.map((block) => ({ ...block, number: Number(block.number) }))].slice(
      -blocksMax,
    );
    numbers = blocks.map(({ number }) => hexOf(number));
    hashes = blocks.map(({ hash }) => hash);
    transactions = blocks.flatMap((block) => block.transactions).slice(-transactionsMax);
  }

  await load();
  return {
    numbers: () => numbers,
    hashes: () => hashes,
    transactions: () => transactions,
    async refresh() {
      await load().catch(() => {});
    },
  };
}

function hexOf(number: number): string {
  return `0x${number.toString(16)}`;
}
