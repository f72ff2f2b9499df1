import { type AnvilAnswer, type AnvilClient, createAnvilClient } from "./anvil-client.ts";
import { type AnvilProcess, startAnvilProcess } from "./anvil-process.ts";
import { type ChainBlock, readAnvilBlock, validatorAddresses } from "./besu-blocks.ts";
import { besuErrors } from "./besu-errors.ts";
import { createBlockStore } from "./block-store.ts";

export type ChainListener = {
  block: (block: ChainBlock) => void;
  /** The chain now ends at `height`: blocks above it are gone, and after a reset all others too. */
  rewound: (height: number) => void;
};

export type SharedChain = Awaited<ReturnType<typeof startSharedChain>>;

type Anvil = { process: AnvilProcess; client: AnvilClient };

export const chainId = 8845;
// The genesis timestamp of the recorded network; each reset takes the next second, so it is another genesis.
const firstGenesisTimestampSeconds = 0x58ee40ba;

/**
 * The one chain behind all validators: an anvil that keeps the state, and beside it every block, receipt and log in
 * Besu's form. Only one of `mine`, `reset`, `revert`, `save`, `kill`, `restart` may run at a time.
 */
export async function startSharedChain({ now }: { now: () => number }) {
  let genesisTimestampSeconds = firstGenesisTimestampSeconds;
  let anvil: Anvil | undefined;
  let saved: { state: unknown; height: number } | undefined;
  const { append, rebuild, truncate: cutAt, ...lookUps } = createBlockStore();
  const listeners: ChainListener[] = [];

  function client(): AnvilClient {
    if (anvil === undefined) throw new Error("the chain is killed");
    return anvil.client;
  }

  function rewound(): void {
    for (const listener of listeners) listener.rewound(lookUps.height());
  }

  function truncate(height: number): void {
    cutAt(height);
    rewound();
  }

  anvil = await startAnvil(genesisTimestampSeconds);
  append(await fetchLatest(client()));

  return {
    listen: (listener: ChainListener) => listeners.push(listener),
    ...lookUps,

    /** Asks anvil; while it is killed every answer is an internal error. */
    async ask(method: string, params: unknown[]): Promise<AnvilAnswer> {
      return anvil === undefined ? { error: besuErrors.internal } : await anvil.client.call(method, params);
    },
    anvilUrl: () => anvil?.process.url,

    /** One block with those of the raw transactions that anvil takes; the others are for the caller to keep. */
    async mine(rawTransactions: string[]): Promise<ChainBlock> {
      const number = lookUps.height() + 1;
      // Sends go first and together; their order in the block follows from sender and nonce.
      await Promise.all([
        client().must("anvil_setCoinbase", [validatorAddresses[number % validatorAddresses.length]]),
        ...rawTransactions.map((raw) => client().call("eth_sendRawTransaction", [raw])),
      ]);
      const timestamp = Math.max(
        (lookUps.block(number - 1)?.timestampSeconds ?? 0) + 1,
        Math.floor(now() / 1_000),
      );
      await client().must("evm_mine", [{ timestamp }]);
      const [block] = await Promise.all([
        fetchLatest(client()),
        client().must("anvil_dropAllTransactions", []),
      ]);
      append(block);
      for (const listener of listeners) listener.block(block);
      return block;
    },

    /** Ends the chain at block `height`, as `evm_revert` does on a development chain. */
    async revert(height: number): Promise<void> {
      const depth = lookUps.height() - height;
      if (depth < 1) throw new Error(`the chain ends at ${lookUps.height()}: it cannot go back to ${height}`);
      await client().must("anvil_rollback", [depth]);
      if (saved !== undefined && saved.height > height) saved = undefined;
      truncate(height);
    },

    /** Another genesis, at height 0. The old chain answers until the new one stands. */
    async reset(): Promise<void> {
      const old = anvil;
      genesisTimestampSeconds += 1;
      saved = undefined;
      anvil = await startAnvil(genesisTimestampSeconds);
      rebuild([await fetchLatest(client())]);
      rewound();
      await stopAnvil(old);
    },

    /** What a restart after `kill` begins with. Without it a restart begins with the genesis. */
    async save(): Promise<void> {
      saved = { state: await client().must("anvil_dumpState", [true]), height: lookUps.height() };
    },

    async kill(): Promise<void> {
      const old = anvil;
      anvil = undefined;
      await stopAnvil(old);
    },

    /** The same genesis again, at the height that was saved last. */
    async restart(): Promise<void> {
      if (anvil !== undefined) throw new Error("the chain still runs");
      anvil = await startAnvil(genesisTimestampSeconds);
      if (saved !== undefined) await client().must("anvil_loadState", [saved.state]);
      truncate(saved?.height ?? 0);
    },
  };
}

async function startAnvil(genesisTimestampSeconds: number): Promise<Anvil> {
  const process = await startAnvilProcess({ chainId, genesisTimestampSeconds });
  return { process, client: createAnvilClient({ url: process.url }) };
}

async function fetchLatest(client: AnvilClient): Promise<ChainBlock> {
  const [block, receipts] = await Promise.all([
    client.must("eth_getBlockByNumber", ["latest", true]),
    client.must("eth_getBlockReceipts", ["latest"]),
  ]);
  return readAnvilBlock(block, receipts);
}

async function stopAnvil(stopping: Anvil | undefined): Promise<void> {
  await stopping?.client.close();
  await stopping?.process.kill();
}
