import type { BurnEventRecord } from "../records/chain.ts";
import type { ChainBlock } from "./read-range.ts";

/** One payment of the platform's fees; hex in lower case. */
export type Burn = {
  blockNumber: number;
  logIndex: number;
  transactionIndex: number;
  unixSeconds: number;
  source: BurnEventRecord["source"];
  orderId: string;
  /** Null where it came out of a deposit box. */
  payer: string | null;
  amount: bigint;
  burned: bigint;
  treasury: bigint;
};

/** What one log of the contract that takes the fees says; undefined for its other logs. Never throws. */
export type ReadBurn = (log: {
  topics: readonly string[];
  data: string;
}) => Pick<Burn, "source" | "orderId" | "payer" | "amount" | "burned" | "treasury"> | undefined;

/** The contract that takes the fees. A log of any other address says nothing of burns, whatever it looks like. */
export type BurnContract = { address: string; readBurn: ReadBurn };

export function burnsOf(
  { block, receipts }: Pick<ChainBlock, "block" | "receipts">,
  contracts: readonly BurnContract[],
): Burn[] {
  if (contracts.length === 0) return [];
  return receipts.flatMap(({ logs, transactionIndex }) =>
    logs.flatMap(({ address, topics, data, logIndex }) => {
      const contract = contracts.find((known) => known.address.toLowerCase() === address);
      const burn = contract?.readBurn({ topics, data });
      if (burn === undefined) return [];
      return [
        {
          ...burn,
          blockNumber: block.number,
          logIndex,
          transactionIndex,
          unixSeconds: block.timestamp,
        },
      ];
    }),
  );
}
