import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, hash, hexQuantity } from "../../lib/chain/rpc-values.ts";
import { type BlockConsensus, consensusOf, sealedConsensusOf } from "./consensus-of.ts";
import type { ChainBlock } from "./read-range.ts";

const blockSchema = z.object({ hash, extraData: bytes }).nullable();
/** One that did not answer is left alone for so long: the head does not wait for it with each block. */
const restMs = 10_000;

export type SealReader = ReturnType<typeof createSealReader>;

/**
 * What the consensus says of blocks. Of young ones the validators themselves are asked, each at its own address, for the
 * seals that it keeps: one that is away, slow or lies can only leave out its own. Recovering a seal takes 0.2 ms
 * and a block of five validators 1 to 2 ms, hence `blocksMax`: older blocks than the head's last so many have rounds and
 * missed turns, but no sealers.
 */
export function createSealReader({
  validators,
  blocksMax,
  logger,
  monotonicMs = () => performance.now(),
}: {
  /** Clients of the validators' own RPC addresses, with short timeouts. */
  validators: readonly Pick<RpcClient, "askAll">[];
  blocksMax: number;
  logger: Pick<Logger, "debug">;
  monotonicMs?: () => number;
}) {
  const restsUntilMs = new Map<Pick<RpcClient, "askAll">, number>();

  async function copiesOf(
    validator: Pick<RpcClient, "askAll">,
    blocks: readonly ChainBlock[],
  ): Promise<(string | undefined)[]> {
    if (monotonicMs() < (restsUntilMs.get(validator) ?? 0)) return [];
    try {
      const answers = await validator.askAll(
        blocks.map(({ block }) => ({
          method: "eth_getBlockByNumber",
          params: [hexQuantity(block.number), false],
        })),
      );
      return answers.map((answer, index) => {
        const told = "result" in answer ? blockSchema.safeParse(answer.result).data : undefined;
        return told?.hash === blocks[index]?.block.hash ? told?.extraData : undefined;
      });
    } catch (error) {
      restsUntilMs.set(validator, monotonicMs() + restMs);
      logger.debug({ err: error }, "a validator does not show its seals");
      return [];
    }
  }

  return {
    /** In the order of `blocks`, whose last is at most `head`. */
    async read(blocks: readonly ChainBlock[], head: number): Promise<BlockConsensus[]> {
      const young = blocks.filter(
        ({ block }) => block.number > head - blocksMax && consensusOf(block).round !== null,
      );
      const copies =
        young.length === 0
          ? []
          : await Promise.all(validators.map((validator) => copiesOf(validator, young)));
      const sealed = new Map<number, BlockConsensus>();
      for (const [index, { block, json }] of young.entries()) {
        const shown = copies.flatMap((ofValidator) => ofValidator[index] ?? []);
        sealed.set(block.number, sealedConsensusOf({ json, copies: shown }));
        // Each takes 1 to 2 ms, and requests wait meanwhile.
        await nextTurn();
      }
      return blocks.map(({ block }) => sealed.get(block.number) ?? consensusOf(block));
    },
  };
}
