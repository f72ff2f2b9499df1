import { network } from "../lib/network.ts";
import { faucetWalletKey } from "../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../lib/redis/redis-client.ts";
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
  /** Whether the paying replica has seen the chain lately; claims wait where it has not. */
  chainAnswers: boolean;
  /** Why claims that were taken are not paid at the moment, in words; null if they are paid. */
  paymentsWait: string | null;
  allowlist: { entries: number; problem: string | null };
};

/** Reads how the faucet stands, as `/status` shows it to everybody. */
export function createStatusReader({
  redis,
  config,
  address,
  admission,
  allowlist,
  allowlistProblem,
  now,
}: {
  redis: RedisClient;
  /** Read for each status. */
  config: Readonly<
    Pick<FaucetConfig, "amount" | "limits" | "lowBalance" | "idlePollMs" | "upstreamTimeoutMs">
  >;
  address: string;
  admission: Pick<Admission, "counts">;
  allowlist: AllowlistStore;
  allowlistProblem: () => string | undefined;
  now: () => number;
}) {
  /** The wallet as the paying replica saw it last; `undefined` before the first look. */
  async function readBalance(): Promise<bigint | undefined> {
    const text = await redis.hget(faucetWalletKey, "balanceWei");
    return text === null ? undefined : BigInt(text);
  }

  async function read(): Promise<StatusView> {
    const { amount, limits, lowBalance, idlePollMs, upstreamTimeoutMs } = config;
    /** Three looks, each of which waits for an answer. */
    const silentAfterMs = 3 * idlePollMs + 2 * upstreamTimeoutMs;
    const [balanceWei, [waits, seenAtMs], counts, entries] = await Promise.all([
      readBalance(),
      redis.hmget(faucetWalletKey, "waits", "atMs"),
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
      // Before the first look it is not known to be silent.
      chainAnswers: seenAtMs == null || now() - Number(seenAtMs) <= silentAfterMs,
      paymentsWait: waits === "" || waits === undefined ? null : waits,
      allowlist: { entries, problem: allowlistProblem() ?? null },
    };
  }

  return { read, readBalance };
}
