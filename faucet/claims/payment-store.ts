import type { Redis } from "ioredis";
import {
  faucetChainKey,
  faucetClaimKey,
  faucetLeaderKey,
  faucetLimitKey,
  faucetNonceKey,
  faucetOpenKey,
  faucetPaidKey,
  faucetPausedKey,
  faucetQueueKey,
  faucetWalletKey,
} from "../../lib/redis/keys/faucet.ts";
import { runScript, type Script } from "../../lib/redis/run-script.ts";
import type { Claim, SignedClaim } from "./claim.ts";
import { createPaymentReader } from "./payment-reader.ts";
import {
  broadcastScript,
  endScript,
  giveUpScript,
  moveNonceScript,
  reopenScript,
  requeueScript,
  restoreScript,
  signScript,
} from "./payment-scripts.ts";

/** Ended payments that are remembered by nonce: more than a dev chain forgets when it is killed. */
const paidMax = 1000;

export type PaymentStore = ReturnType<typeof createPaymentStore>;

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

/**
 * What the replica that pays reads and changes. Every change carries its fencing number, and throws LeadershipLostError
 * where another replica holds a later one; `false` says that the claim or the nonce was not as expected, and that
 * nothing was changed.
 */
export function createPaymentStore({
  redis,
  recordsKeptMs,
  windowMs,
  now,
}: {
  redis: Redis;
  recordsKeptMs: number;
  windowMs: number;
  now?: (() => number) | undefined;
}) {
  const testTime = () => now?.() ?? "";

  async function change(
    fence: string,
    { script, keys, args }: { script: Script; keys: readonly string[]; args: readonly (string | number)[] },
  ): Promise<boolean> {
    const answer = await runScript({
      redis,
      script,
      keys: [faucetLeaderKey, ...keys],
      args: [fence, ...args],
    });
    if (answer === "not leader") throw new LeadershipLostError();
    return answer === "done";
  }

  function end(
    fence: string,
    { id, txHash = "", scope, address }: Claim,
    { status, reason = "", block = "" }: { status: Claim["status"]; reason?: string; block?: number | "" },
  ): Promise<boolean> {
    return change(fence, {
      script: endScript,
      keys: [
        faucetClaimKey(id),
        faucetQueueKey,
        faucetOpenKey,
        faucetPaidKey,
        ...[`address:${address.toLowerCase()}`, scope, "all"].map(faucetLimitKey),
      ],
      args: [testTime(), id, txHash, status, reason, block, recordsKeptMs, paidMax],
    });
  }

  return {
    ...createPaymentReader({ redis }),

    moveNonce: (fence: string, { from, to }: { from: number | undefined; to: number }) =>
      change(fence, { script: moveNonceScript, keys: [faucetNonceKey], args: [from ?? "", to] }),

    sign: (
      fence: string,
      { id, nonce, raw, txHash }: { id: string; nonce: number; raw: string; txHash: string },
    ) =>
      change(fence, {
        script: signScript,
        keys: [faucetClaimKey(id), faucetQueueKey, faucetOpenKey, faucetNonceKey, faucetPausedKey],
        args: [id, nonce, raw, txHash],
      }),

    markBroadcast: (fence: string, { id, txHash }: SignedClaim) =>
      change(fence, { script: broadcastScript, keys: [faucetClaimKey(id)], args: [txHash] }),

    giveUp: (fence: string, { id, txHash }: SignedClaim, { reason }: { reason: string }) =>
      change(fence, { script: giveUpScript, keys: [faucetClaimKey(id)], args: [txHash, reason] }),

    confirm: (fence: string, claim: SignedClaim, { block }: { block: number }) =>
      end(fence, claim, { status: "confirmed", block }),

    refuse: (fence: string, claim: Claim, { reason, block }: { reason: string; block?: number }) =>
      end(fence, claim, { status: "refused", reason, ...(block === undefined ? {} : { block }) }),

    requeue: (fence: string, { id, txHash }: SignedClaim) =>
      change(fence, {
        script: requeueScript,
        keys: [faucetClaimKey(id), faucetQueueKey, faucetOpenKey],
        args: [id, txHash],
      }),

    reopen: (fence: string, { id, nonce }: SignedClaim) =>
      change(fence, {
        script: reopenScript,
        keys: [faucetClaimKey(id), faucetOpenKey, faucetPaidKey],
        args: [id, nonce],
      }),

    restore(fence: string, payment: MinedPayment): Promise<boolean> {
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
      return change(fence, {
        script: restoreScript,
        keys: [
          faucetClaimKey(claimId),
          faucetQueueKey,
          faucetOpenKey,
          ...[`address:${address.toLowerCase()}`, "all"].map(faucetLimitKey),
        ],
        args: [
          testTime(),
          claimId,
          nonce,
          minedAtMs + windowMs,
          recordsKeptMs,
          windowMs,
          ...Object.entries(record).flat(),
        ],
      });
    },

    async bindChain(chain: { genesisHash: string; wallet: string }): Promise<void> {
      await redis.hset(faucetChainKey, chain);
    },

    /** `waits`: why no payment is made at the moment, in words for everybody; empty where nothing keeps them. */
    async publishWallet(seen: {
      balanceWei: bigint;
      height: number;
      atMs: number;
      waits: string;
    }): Promise<void> {
      await redis.hset(faucetWalletKey, { ...seen, balanceWei: String(seen.balanceWei) });
    },
  };
}

/** Another replica pays. Whatever this one was about to do is to be dropped. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";

  constructor() {
    super("another replica has become the leader");
  }
}
