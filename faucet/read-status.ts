import type { Redis } from "ioredis";
import { network } from "../lib/network.ts";
import { faucetWalletKey } from "../lib/redis/keys/faucet.ts";
import type { AllowlistStore } from "./allowlist/allowlist-store.ts";
import type { Admission } from "./claims/admission.ts";
import type { FaucetConfig } from "./config.ts";

/** What `GET /status` shows; amounts in wei as decimal strings, `balance` null before the chain was looked at. */
export type StatusView = {
  chainId: number;
  address: string;
  balance: string | null;
  isLow: boolean;
  amount: string;
  symbol: string;
  limits: { perAddress: number; perClient: number; overall: number; windowSeconds: number };
  claimsInWindow: number;
  waiting: number;
  underWay: number;
  paused: boolean;
  /** Why claims that were taken are not paid at the moment, in words; null if they are paid. */
  paymentsWait: string | null;
  allowlist: { entries: number; problem: string | null };
};

/** Reads how the faucet stands, as `/status` shows it to everybody. */
export function createStatusReader({
  redis,
  config: { amount, limits, lowBalance },
  address,
  admission,
  allowlist,
  allowlistProblem,
}: {
  redis: Redis;
  config: Pick<FaucetConfig, "amount" | "limits" | "lowBalance">;
  address: string;
  admission: Pick<Admission, "counts">;
  allowlist: AllowlistStore;
  allowlistProblem: () => string | undefined;
}) {
  /** The wallet as the paying replica saw it last; `undefined` before the first look. */
  async function readBalance(): Promise<bigint | undefined> {
    const text = await redis.hget(faucetWalletKey, "balanceWei");
    return text === null ? undefined : BigInt(text);
  }

  async function read(): Promise<StatusView> {
    const [balanceWei, waits, counts, entries] = await Promise.all([
      readBalance(),
      redis.hget(faucetWalletKey, "waits"),
      admission.counts(),
      allowlist.count(),
    ]);
    return {
      chainId: network.chainId,
      address,
      balance: balanceWei === undefined ? null : String(balanceWei),
      isLow: balanceWei !== undefined && balanceWei < lowBalance,
      amount: String(amount),
      symbol: network.nativeCurrency.symbol,
      limits: {
        perAddress: limits.perAddress,
        perClient: limits.perClient,
        overall: limits.overall,
        windowSeconds: limits.windowMs / 1000,
      },
      claimsInWindow: counts.inWindow,
      waiting: counts.waiting,
      underWay: counts.open,
      paused: counts.paused,
      paymentsWait: waits === "" ? null : waits,
      allowlist: { entries, problem: allowlistProblem() ?? null },
    };
  }

  return { read, readBalance };
}
