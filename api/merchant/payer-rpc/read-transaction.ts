import { Transaction } from "ethers/transaction";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { network } from "../../../lib/network.ts";
import { noPayment } from "./outcome.ts";

/** A signed transaction; hex in lower case. */
export type SignedTransaction = { hash: string; to: string | undefined; value: bigint; data: string };

/** `pay` needs 600 as a transaction; what is longer has an access list that no payment needs. */
const bytesMax = 2048;
/**
 * A payment takes 103 000, and a merchant's contract may use 60 000 of its own; wallets add half of what they estimated. It is
 * the work that a validator does for a transaction that fails.
 */
export const gasMax = 400_000n;

/** Legacy (which begins an RLP list), access list (EIP-2930) and fee market (EIP-1559) transactions. */
const types = /^0x(?:[c-f]|01|02)/;

/** Reads what eth_sendRawTransaction is given, or says why it is not sent. The sender is the chain's matter. */
export function readTransaction(hex: string): SignedTransaction | Refusal {
  if (hex.length > 2 + 2 * bytesMax) return tooLong;
  if (!types.test(hex)) return otherType;
  const transaction = decode(hex);
  if (transaction === undefined) return unreadable;
  const { hash, chainId, gasLimit, to, value, data } = transaction;
  if (hash === null) return unsigned;
  if (chainId !== BigInt(network.chainId)) return otherChain;
  if (gasLimit > gasMax) return tooMuchGas;
  return { hash, to: to?.toLowerCase(), value, data: data.toLowerCase() };
}

/** ethers throws on what is no transaction, and only when the hash is asked for on a signature with the higher s (EIP-2). */
function decode(hex: string) {
  try {
    const { hash, chainId, gasLimit, to, value, data } = Transaction.from(hex);
    return { hash, chainId, gasLimit, to, value, data };
  } catch {
    return undefined;
  }
}

const tooLong = refusal("invalid_params", `A payment's transaction has at most ${bytesMax} bytes`);
const unreadable = refusal("invalid_params", "The parameter is no transaction that can be read");
const unsigned = refusal("invalid_params", "The transaction is not signed");
const otherType = noPayment("Of transactions legacy ones and types 1 and 2 are taken");
const otherChain = refusal(
  "invalid_params",
  `The transaction is not signed for this network, chain ${network.chainId}: the wallet is on another one`,
);
const tooMuchGas = refusal(
  "invalid_params",
  `A payment takes at most ${gasMax} gas; let the wallet estimate it`,
);
