import {
  faucetClaimKey,
  faucetLimitKey,
  faucetOpenKey,
  faucetQueueKey,
} from "../../lib/redis/keys/faucet.ts";
import type { Script } from "../../lib/redis/run-script.ts";
import { restoreScript } from "./payment-scripts.ts";

/** A change of payments in Redis: its keys and arguments, but for the fencing number and the leader's key. */
export type Change = { script: Script; keys: readonly string[]; args: readonly (string | number)[] };

/** A payment as it stands on the chain. */
export type MinedPayment = {
  claimId: string;
  address: string;
  amountWei: bigint;
  nonce: number;
  txHash: string;
  blockNumber: number;
  minedAtMs: number;
};

/** Restores a payment that Redis has lost, from the chain. */
export function restoreChange(
  payment: MinedPayment,
  { now, windowMs, recordsKeptMs }: { now: number | ""; windowMs: number; recordsKeptMs: number },
): Change {
  const { claimId, address, amountWei, nonce, txHash, blockNumber, minedAtMs } = payment;
  const record = {
    address,
    amountWei: String(amountWei),
    createdAtMs: minedAtMs,
    scope: "chain",
    recipientChecked: 1,
    txHash,
    blockNumber,
  };
  return {
    script: restoreScript,
    keys: [
      faucetClaimKey(claimId),
      faucetQueueKey,
      faucetOpenKey,
      ...[`address:${address.toLowerCase()}`, "all"].map(faucetLimitKey),
    ],
    args: [
      now,
      claimId,
      nonce,
      minedAtMs + windowMs,
      recordsKeptMs,
      windowMs,
      ...Object.entries(record).flat(),
    ],
  };
}
