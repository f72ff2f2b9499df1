import type { ChainBlock } from "./besu-blocks.ts";
import { blockGasLimit } from "./send-transaction.ts";
import type { SharedChain } from "./shared-chain.ts";
import type { Turns } from "./turns.ts";
import type { StartedValidator } from "./validator.ts";

/** Makes the chain's blocks: each in its proposer's turn, out of what the proposer's pool holds. */
export function createBlockMaking({
  chain,
  validators,
  inTurn,
  blockTimeMs,
}: {
  chain: SharedChain;
  validators: StartedValidator[];
  inTurn: Turns;
  blockTimeMs: number | undefined;
}) {
  let timer: NodeJS.Timeout | undefined;
  let mining: Promise<unknown> | undefined;

  async function mineOne(): Promise<ChainBlock> {
    const turn = chain.height() + 1;
    // A proposer that is down is passed over: the next one's turn comes.
    const order = validators.map((_, offset) => validators[(turn + offset) % validators.length]);
    const proposer = order.find((validator) => validator?.internals.isUp() === true);
    const nonceOf = (sender: string) => chain.nonceAt(sender, chain.height());
    const executable = proposer?.internals.pool.executable(nonceOf, blockGasLimit) ?? [];
    return await chain.mine(executable.map(({ raw }) => raw));
  }

  async function mine(blocks = 1): Promise<ChainBlock | undefined> {
    let last: ChainBlock | undefined;
    for (let mined = 0; mined < blocks; mined += 1) last = await inTurn(mineOne);
    return last;
  }

  function tick(): void {
    // A block that takes longer than the block time delays the next one. While the chain is killed none is made.
    mining ??= mine()
      .catch(() => {})
      .finally(() => {
        mining = undefined;
      });
  }

  function pause(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    mine,
    pause,
    resume(): void {
      if (blockTimeMs !== undefined) timer ??= setInterval(tick, blockTimeMs);
    },
    async stop(): Promise<void> {
      pause();
      await mining;
    },
  };
}
