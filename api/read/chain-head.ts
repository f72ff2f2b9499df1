import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { LatestBlock } from "../chain/latest-block.ts";
import type { BlockWithHeader } from "../chain/rpc-records.ts";
import type { ChainRecord } from "../records/chain.ts";

export type ChainHead = ReturnType<typeof createChainHead>;

/** Who seals a chain, as its newest block says. */
export type Consensus = { kind: ChainRecord["consensus"]; validators: readonly string[]; quorum: number };

/** The chain's newest block, and who seals the chain now. */
export function createChainHead({
  reader,
  newest,
}: {
  reader: Pick<ChainReader, "block">;
  newest: Pick<LatestBlock, "block">;
}) {
  /** @throws ChainUnavailableError where the chain does not answer, or has no block. */
  async function latest(): Promise<BlockWithHeader> {
    const known = newest.block();
    if (known !== undefined) return known;
    const block = await reader.block("latest");
    if (block === undefined) throw new ChainUnavailableError("the chain has no latest block");
    return block;
  }

  return { latest, consensus: async (): Promise<Consensus> => consensusOf(await latest()) };
}

/** Who seals a block's chain: what its `extraData` says, or nobody on a development chain. */
export function consensusOf(block: Pick<BlockWithHeader, "extraData">): Consensus {
  const decoded = decodeExtraData(block.extraData);
  if (!("extraData" in decoded)) return { kind: "dev", validators: [], quorum: 0 };
  const validators = decoded.extraData.validators.map((address) => checksumAddress(address));
  return { kind: decoded.extraData.consensus, validators, quorum: quorumOf(validators.length) };
}
