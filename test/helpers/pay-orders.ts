import { SigningKey } from "ethers/crypto";
import { z } from "zod";
import { developmentSigners } from "../../lib/fee-collector/development-keys.ts";
import { depositBoxAddress } from "../../lib/fee-collector/fee-addresses.ts";
import { collectCall, payCall } from "../../lib/fee-collector/fee-calls.ts";
import { type FeeOrder, orderId, orderRef, signOrder } from "../../lib/fee-collector/fee-order.ts";
import { developmentFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import type { AnvilUnderTest } from "./anvil.ts";
import { waitFor } from "./wait-for.ts";

const { feeCollector } = developmentFeeSettings;
const receipt = z.object({ status: z.literal("0x1") });

/** Pays and collects orders of the development signers on a dev chain, from one of its accounts. */
export function createPayer({ chain, from }: { chain: AnvilUnderTest; from: string }) {
  async function send(call: { to: string; data?: string; value?: bigint }): Promise<string> {
    const { to, data = "0x", value = 0n } = call;
    const transaction = { from, to, data, value: `0x${value.toString(16)}`, gas: "0x7a120" };
    const hash = z.string().parse(await chain.rpc("eth_sendTransaction", [transaction]));
    receipt.parse(await waitFor("it is mined", () => chain.rpc("eth_getTransactionReceipt", [hash])));
    return hash;
  }

  function signed(order: FeeOrder) {
    const signingKey = new SigningKey(developmentSigners[order.source].privateKey);
    return { order, signature: signOrder({ order, chainId: 8845, feeCollector, signingKey }) };
  }

  return {
    send,
    order: (terms: Pick<FeeOrder, "source" | "payee" | "amount" | "fee">): FeeOrder => ({
      ...terms,
      ref: orderRef(crypto.randomUUID()),
      validUntil: 4_000_000_000,
    }),
    pay: (order: FeeOrder) => send({ to: feeCollector, data: payCall(signed(order)), value: order.amount }),
    /** A plain transfer to the order's box, and its collection. */
    async transferAndCollect(order: FeeOrder, value: bigint): Promise<string> {
      const id = orderId({ order, chainId: 8845, feeCollector });
      await send({ to: depositBoxAddress({ feeCollector, id }), value });
      return await send({ to: feeCollector, data: collectCall(signed(order)) });
    },
  };
}
