import { type AnvilAnswer, type AnvilClient, createAnvilClient } from "./anvil-client.ts";
import { type AnvilProcess, startAnvilProcess } from "./anvil-process.ts";
import { type ChainBlock, type ChainTransaction, readAnvilBlock, validatorAddresses } from "./besu-blocks.ts";
import { besuErrors } from "./besu-errors.ts";

export type ChainListener = {
  block: (block: ChainBlock) => void;
  /** The chain now ends at `height`: blocks above it are gone, and after a reset all others too. */
  rewound: (height: number) => void;
};

export type SharedChain = Awaited<ReturnType<typeof startSharedChain>>;

export const chainId = 8845;
// The genesis timestamp of the recorded network; each reset takes the next second, so it is another genesis.
const firstGenesisTimestampSeconds = 0x58ee40ba;

/**
 * The one chain behind all validators: an anvil that keeps the state, and beside it every block, receipt and log in
 * Besu's form. Only one of `mine`, `reset`, `revert`, `save`, `kill`, `restart` may run at a time.
 */
export async function startSharedChain({ now }: { now: () => number }) {
  let genesisTimestampSeconds = firstGenesisTimestampSeconds;
  let anvil: { process: AnvilProcess; client: AnvilClient } | undefined;
  let saved: { state: unknown; height: number } | undefined;
  let blocks: ChainBlock[] = [];
  const numberByHash = new Map<string, number>();
  const transactions = new Map<string, { transaction: ChainTransaction; block: ChainBlock; index: number }>();
  const sentBy = new Map<string, { nonce: number; blockNumber: number }[]>();
  const listeners: ChainListener[] = [];

  function client(): AnvilClient {
    if (anvil === undefined) throw new Error("the chain is killed");
    return anvil.client;
  }

  async function startAnvil(): Promise<void> {
    const process = await startAnvilProcess({ chainId, genesisTimestampSeconds });
    anvil = { process, client: createAnvilClient({ url: process.url }) };
  }

  async function fetchLatest(): Promise<ChainBlock> {
    const [block, receipts] = await Promise.all([
      client().must("eth_getBlockByNumber", ["latest", true]),
      client().must("eth_getBlockReceipts", ["latest"]),
    ]);
    return readAnvilBlock(block, receipts);
  }

  function append(block: ChainBlock): void {
    blocks.push(block);
    numberByHash.set(block.hash, block.number);
    block.transactions.forEach((transaction, index) => {
      transactions.set(transaction.hash, { transaction, block, index });
      const sent = sentBy.get(transaction.from);
      const entry = { nonce: transaction.nonce, blockNumber: block.number };
      if (sent === undefined) sentBy.set(transaction.from, [entry]);
      else sent.push(entry);
    });
  }

  function rebuild(kept: ChainBlock[]): void {
    blocks = [];
    numberByHash.clear();
    transactions.clear();
    sentBy.clear();
    kept.forEach(append);
    for (const listener of listeners) listener.rewound(blocks.length - 1);
  }

  function truncate(height: number): void {
    rebuild(blocks.filter((block) => block.number <= height));
  }

  async function stopAnvil(stopping: typeof anvil): Promise<void> {
    await stopping?.client.close();
    await stopping?.process.kill();
  }

  await startAnvil();
  append(await fetchLatest());

  return {
    listen: (listener: ChainListener) => listeners.push(listener),
    height: () => blocks.length - 1,
    block: (number: number) => blocks[number],
    blockNumberOf: (hash: string) => numberByHash.get(hash),
    transaction: (hash: string) => transactions.get(hash),

    /** The account's next nonce after block `height`: one more than the last that it sent. */
    nonceAt(sender: string, height: number): number {
      const last = sentBy.get(sender)?.findLast((sent) => sent.blockNumber <= height);
      return last === undefined ? 0 : last.nonce + 1;
    },

    transactionOf(sender: string, nonce: number) {
      const sent = sentBy.get(sender)?.find((entry) => entry.nonce === nonce);
      if (sent === undefined) return undefined;
      const block = blocks[sent.blockNumber];
      return block?.transactions.find((entry) => entry.from === sender && entry.nonce === nonce);
    },

    /** Asks anvil; while it is killed every answer is an internal error. */
    async ask(method: string, params: unknown[]): Promise<AnvilAnswer> {
      return anvil === undefined ? { error: besuErrors.internal } : await anvil.client.call(method, params);
    },
    anvilUrl: () => anvil?.process.url,

    /** One block with those of the raw transactions that anvil takes; the others are for the caller to keep. */
    async mine(rawTransactions: string[]): Promise<ChainBlock> {
      const tip = blocks.at(-1);
      const number = blocks.length;
      // Sends go first and together; their order in the block follows from sender and nonce.
      await Promise.all([
        client().must("anvil_setCoinbase", [validatorAddresses[number % validatorAddresses.length]]),
        ...rawTransactions.map((raw) => client().call("eth_sendRawTransaction", [raw])),
      ]);
      const timestamp = Math.max((tip?.timestampSeconds ?? 0) + 1, Math.floor(now() / 1_000));
      await client().must("evm_mine", [{ timestamp }]);
      const [block] = await Promise.all([fetchLatest(), client().must("anvil_dropAllTransactions", [])]);
      append(block);
      for (const listener of listeners) listener.block(block);
      return block;
    },

    /** Ends the chain at block `height`, as `evm_revert` does on a development chain. */
    async revert(height: number): Promise<void> {
      const depth = blocks.length - 1 - height;
      if (depth < 1)
        throw new Error(`the chain ends at ${blocks.length - 1}: it cannot go back to ${height}`);
      await client().must("anvil_rollback", [depth]);
      if (saved !== undefined && saved.height > height) saved = undefined;
      truncate(height);
    },

    /** Another genesis, at height 0. The old chain answers until the new one stands. */
    async reset(): Promise<void> {
      const old = anvil;
      genesisTimestampSeconds += 1;
      saved = undefined;
      await startAnvil();
      rebuild([await fetchLatest()]);
      await stopAnvil(old);
    },

    /** What a restart after `kill` begins with. Without it a restart begins with the genesis. */
    async save(): Promise<void> {
      saved = { state: await client().must("anvil_dumpState", [true]), height: blocks.length - 1 };
    },

    async kill(): Promise<void> {
      const old = anvil;
      anvil = undefined;
      await stopAnvil(old);
    },

    /** The same genesis again, at the height that was saved last. */
    async restart(): Promise<void> {
      if (anvil !== undefined) throw new Error("the chain still runs");
      await startAnvil();
      if (saved !== undefined) await client().must("anvil_loadState", [saved.state]);
      truncate(saved?.height ?? 0);
    },
  };
}
