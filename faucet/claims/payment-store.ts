import {
  faucetClaimKey,
  faucetLeaderKey,
  faucetLimitKey,
  faucetNonceKey,
  faucetOpenKey,
  faucetPaidKey,
  faucetPausedKey,
  faucetQueueKey,
} from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import type { Claim, SignedClaim } from "./claim.ts";
import { createPaymentReader } from "./payment-reader.ts";
import {
  broadcastScript,
  endScript,
  giveUpScript,
  moveNonceScript,
  reopenScript,
  requeueScript,
  signScript,
} from "./payment-scripts.ts";
import { type Change, type MinedPayment, restoreChange } from "./restore-payment.ts";
import { createWalletRecords } from "./wallet-records.ts";

/** Ended payments that are remembered by nonce: more than a dev chain forgets when it is killed. */
const paidMax = 1000;

export type PaymentStore = ReturnType<typeof createPaymentStore>;

/**
 * The reads and changes of the replica that pays. Every change carries its fencing number, and throws LeadershipLostError
 * if another replica holds a later one. `false`: the claim or the nonce was not as expected, and nothing was changed.
 */
export function createPaymentStore({
  redis,
  settings,
  now,
}: {
  redis: RedisClient;
  /** Read for each change. */
  settings: { readonly recordsKeptMs: number; readonly limits: { readonly windowMs: number } };
  now?: (() => number) | undefined;
}) {
  const testTime = () => now?.() ?? "";

  async function change(fence: string, { script, keys, args }: Change): Promise<boolean> {
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
      args: [testTime(), id, txHash, status, reason, block, settings.recordsKeptMs, paidMax],
    });
  }

  return {
    ...createPaymentReader({ redis }),
    ...createWalletRecords({ redis }),

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

    restore: (fence: string, payment: MinedPayment) =>
      change(
        fence,
        restoreChange(payment, {
          now: testTime(),
          windowMs: settings.limits.windowMs,
          recordsKeptMs: settings.recordsKeptMs,
        }),
      ),
  };
}

/** Another replica pays now. This one drops what it was about to do. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";

  constructor() {
    super("another replica has become the leader");
  }
}
