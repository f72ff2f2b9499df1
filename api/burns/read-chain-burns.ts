import { z } from "zod";
import { readAnswer } from "../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { bytes, hexQuantity, wei } from "../../lib/chain/rpc-values.ts";
import { feeCollectorInterface } from "../../lib/fee-collector/artifacts.ts";
import { burnSinkAddress } from "../../lib/fee-collector/fee-addresses.ts";
import { type FeeSource, feeSources, sourceBytes } from "../../lib/fee-collector/fee-sources.ts";

export type SourceSums = { fees: bigint; burned: bigint };

/** What the chain itself says of burns after a block. */
export type ChainBurns = {
  sink: { code: string; balance: bigint };
  /** `totals` of the contract; zeros where it is not there yet. */
  totals: Readonly<Record<FeeSource, SourceSums>>;
};

/** @throws ChainUnavailableError, also where a validator has forgotten that block's state. */
export async function readChainBurns({
  rpc,
  feeCollector,
  blockNumber,
}: {
  rpc: Pick<RpcClient, "askAll">;
  feeCollector: string;
  blockNumber: number;
}): Promise<ChainBurns> {
  const at = hexQuantity(blockNumber);
  const [balance, code, contract, ...sums] = await rpc.askAll([
    { method: "eth_getBalance", params: [burnSinkAddress, at] },
    { method: "eth_getCode", params: [burnSinkAddress, at] },
    { method: "eth_getCode", params: [feeCollector, at] },
    ...feeSources.map((source) => ({
      method: "eth_call",
      params: [
        { to: feeCollector, data: feeCollectorInterface.encodeFunctionData("totals", [sourceBytes(source)]) },
        at,
      ],
    })),
  ]);
  const isThere = readAnswer(contract, bytes) !== "0x";
  const totals = feeSources.map((source, index): [FeeSource, SourceSums] => [
    source,
    isThere ? readSums(readAnswer(sums[index], bytes)) : { fees: 0n, burned: 0n },
  ]);
  return {
    sink: { balance: readAnswer(balance, wei), code: readAnswer(code, bytes) },
    totals: totalsSchema.parse(Object.fromEntries(totals)),
  };
}

function readSums(data: string): SourceSums {
  const [fees, burned] = sumsSchema.parse(
    feeCollectorInterface.decodeFunctionResult("totals", data).toArray(),
  );
  return { fees, burned };
}

const sumsSchema = z.tuple([z.bigint(), z.bigint()]);
const totalsSchema = z.record(z.enum(feeSources), z.object({ fees: z.bigint(), burned: z.bigint() }));
