import type { SigningKey } from "ethers/crypto";
import { Transaction } from "ethers/transaction";

export type Transfer = {
  to: string;
  valueWei: bigint;
  data: string;
  gas: number;
  nonce: number;
  gasPriceWei: bigint;
  chainId: bigint;
};

/** A signed legacy transaction (EIP-155) and the hash that the chain will know it by. */
export function signTransfer(key: SigningKey, transfer: Transfer): { raw: string; hash: string } {
  const transaction = Transaction.from({
    type: 0,
    to: transfer.to,
    value: transfer.valueWei,
    data: transfer.data,
    nonce: transfer.nonce,
    gasLimit: transfer.gas,
    gasPrice: transfer.gasPriceWei,
    chainId: transfer.chainId,
  });
  transaction.signature = key.sign(transaction.unsignedHash);
  return { raw: transaction.serialized, hash: transaction.hash ?? "" };
}
