import { randomBytes } from "node:crypto";
import { SigningKey } from "ethers/crypto";
import { Transaction } from "ethers/transaction";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { collectCall } from "../../../lib/fee-collector/fee-calls.ts";
import { revertReason } from "../../../lib/fee-collector/revert-reason.ts";
import { network } from "../../../lib/network.ts";
import type { ChainReader } from "../../chain/chain-reader.ts";
import { hash } from "../../records/values.ts";
import type { InvoiceOrder } from "./collect-orders.ts";

/** A first collect makes the box's contract (190 000) and gives the merchant's up to 60 000. */
const gasLimit = 400_000n;

export type CollectBox = (order: InvoiceOrder) => Promise<{ txHash: string } | { why: string }>;

/**
 * Has the FeeCollector pass on what lies in an invoice's box. Anybody may, and gas costs nothing here, so each transaction is from an
 * account of its own that is thrown away: there is no key to keep, no nonce that replicas would share, and nothing stuck behind
 * one that was lost. It is tried by a call first; what the contract would refuse is not sent.
 *
 * @throws ChainUnavailableError where the chain does not answer or does not take it.
 */
export function createCollectBox({
  rpc,
  reader,
}: {
  rpc: Pick<RpcClient, "ask">;
  reader: Pick<ChainReader, "call">;
}): CollectBox {
  return async (invoiceOrder) => {
    const { feeCollector } = invoiceOrder;
    const data = collectCall(invoiceOrder);
    const outcome = await reader.call({ to: feeCollector, data, gas: gasLimit }, "latest");
    if (!("returned" in outcome)) {
      const reason = "reverted" in outcome ? revertReason(outcome.reverted ?? "0x") : undefined;
      return { why: reason ?? "The contract does not pass it on" };
    }
    const transaction = Transaction.from({
      ...{ type: 0, chainId: network.chainId, nonce: 0, gasPrice: 0n, gasLimit },
      ...{ to: feeCollector, data },
    });
    transaction.signature = new SigningKey(randomBytes(32)).sign(transaction.unsignedHash);
    const answer = await rpc.ask("eth_sendRawTransaction", [transaction.serialized]);
    return { txHash: readAnswer(answer, hash) };
  };
}
