import { z } from "zod";
import { claimIdOf } from "../../../faucet/chain/payment-data.ts";

export type ChainPayment = {
  to: string;
  valueWei: bigint;
  claimId: string | undefined;
  nonce: number;
};

const blockSchema = z.object({
  transactions: z.array(
    z.object({
      from: z.string(),
      to: z.string().nullish(),
      value: z.string(),
      input: z.string(),
      nonce: z.string(),
    }),
  ),
});

/** What the wallet has sent, read from the chain's blocks; addresses are in lower case. */
export async function readPayments({
  anvil,
  wallet,
  firstBlock,
}: {
  anvil: { rpc(method: string, params?: readonly unknown[]): Promise<unknown> };
  wallet: string;
  firstBlock: number;
}): Promise<ChainPayment[]> {
  const height = Number(await anvil.rpc("eth_blockNumber"));
  const payments: ChainPayment[] = [];
  for (let number = firstBlock; number <= height; number += 1) {
    const block = blockSchema.parse(
      await anvil.rpc("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]),
    );
    for (const { from, to, value, input, nonce } of block.transactions) {
      if (from.toLowerCase() !== wallet.toLowerCase()) continue;
      payments.push({
        to: to?.toLowerCase() ?? "",
        valueWei: BigInt(value),
        claimId: claimIdOf(input),
        nonce: Number(nonce),
      });
    }
  }
  return payments;
}
