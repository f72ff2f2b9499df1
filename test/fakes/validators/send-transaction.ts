import { Transaction } from "ethers/transaction";
import { LRUCache } from "lru-cache";
import { offeredPriceWei, pendingTransactionJson } from "./besu-blocks.ts";
import { type Answer, answered, besuErrors, type RpcError, refused } from "./besu-errors.ts";
import type { Handler } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import type { AddOutcome, Mempool, PooledTransaction } from "./mempool.ts";
import { chainId, type SharedChain } from "./shared-chain.ts";

export const blockGasLimit = 30_000_000n;
// Besu's `tx-pool-max-future-by-sender`.
const nonceDistanceMax = 200;
const decodedMax = 5_000;

// Decoding recovers the sender, which is slow; the same bytes come to several validators.
const decoded = new LRUCache<string, PooledTransaction | { error: RpcError }>({ max: decodedMax });

/** `eth_sendRawTransaction` of one validator; `accepted` spreads what came in here to the others. */
export function createSendTransaction({
  chain,
  view,
  pool,
  accepted,
}: {
  chain: SharedChain;
  view: ChainView;
  pool: Mempool;
  accepted: (transaction: PooledTransaction) => void;
}): Handler {
  return ([raw]): Answer => {
    if (raw === undefined) return refused(besuErrors.paramsCount);
    const transaction = decode(raw);
    if ("error" in transaction) return refused(transaction.error);
    if (pool.get(transaction.hash) !== undefined) return refused(besuErrors.knownTransaction);

    const next = chain.nonceAt(transaction.from, view.height());
    // A mined transaction is refused by its nonce too: its pool entry went with the block.
    if (transaction.nonce < next) return refused(besuErrors.nonceTooLow);
    if (transaction.nonce > next + nonceDistanceMax) return refused(besuErrors.nonceTooDistant);

    const outcome = pool.add(transaction, { local: true });
    if (outcome !== "added") return refused(outcomeErrors[outcome]);
    accepted(transaction);
    return answered(transaction.hash);
  };
}

const outcomeErrors: Record<Exclude<AddOutcome, "added">, RpcError> = {
  known: besuErrors.knownTransaction,
  underpriced: besuErrors.underpriced,
  full: { code: -32000, message: "Transaction pool is full" },
};

function decode(raw: unknown): PooledTransaction | { error: RpcError } {
  if (typeof raw !== "string") return { error: besuErrors.invalidParams };
  const known = decoded.get(raw);
  if (known !== undefined) return known;
  const read = decodeOnce(raw);
  decoded.set(raw, read);
  return read;
}

function decodeOnce(raw: string): PooledTransaction | { error: RpcError } {
  try {
    return read(raw, Transaction.from(raw));
  } catch {
    // ethers also throws when it writes a transaction that contradicts itself, as a tip above the cap does.
    return { error: besuErrors.invalidParams };
  }
}

function read(raw: string, transaction: Transaction): PooledTransaction | { error: RpcError } {
  const { hash, from } = transaction;
  // Blob transactions and EIP-7702 are not of this network's fork.
  if (hash === null || from === null || (transaction.type ?? 0) > 2)
    return { error: besuErrors.invalidParams };
  // 0 is what a transaction from before EIP-155 has; Besu takes those.
  if (transaction.chainId !== 0n && transaction.chainId !== BigInt(chainId))
    return { error: besuErrors.wrongChainId };
  if (transaction.gasLimit < intrinsicGas(transaction)) return { error: besuErrors.intrinsicGas };
  if (transaction.gasLimit > blockGasLimit) return { error: besuErrors.gasOverBlockLimit };

  const sender = from.toLowerCase();
  return {
    hash,
    raw,
    from: sender,
    nonce: transaction.nonce,
    offeredPriceWei: offeredPriceWei(transaction),
    gasLimit: transaction.gasLimit,
    json: pendingTransactionJson(transaction, sender),
  };
}

/** The yellow paper's g0 with EIP-2028, EIP-2930 and EIP-3860. */
function intrinsicGas(transaction: Transaction): bigint {
  const data = Buffer.from(transaction.data.slice(2), "hex");
  const zeros = data.filter((byte) => byte === 0).length;
  const creation = transaction.to === null ? 32_000 + 2 * Math.ceil(data.length / 32) : 0;
  const accessList = transaction.accessList ?? [];
  const slots = accessList.reduce((sum, entry) => sum + entry.storageKeys.length, 0);
  const gas = 21_000 + 4 * zeros + 16 * (data.length - zeros) + creation;
  return BigInt(gas + 2_400 * accessList.length + 1_900 * slots);
}
