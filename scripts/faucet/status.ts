import { countClaims } from "../../faucet/claims/admission.ts";
import { createStatusReader } from "../../faucet/read-status.ts";
import { count, duration, fields, json } from "../../lib/cli/format.ts";
import { formatTokens } from "../../lib/config/token-amount.ts";
import { faucetChainKey, faucetLeaderKey } from "../../lib/redis/keys/faucet.ts";
import type { FaucetCommand } from "./command.ts";

export const statusCommand: FaucetCommand = {
  name: "status",
  positionals: [],
  summary: "Tells the wallet's balance, what waits, and whether a replica pays.",
  details: [],
  options: {},
  examples: ["status --json"],
  async run({ redis, config, allowlist, json: asJson, print }) {
    const { limits } = config;
    const [wallet, leader] = await Promise.all([
      redis.hget(faucetChainKey, "wallet"),
      redis.exists(faucetLeaderKey),
    ]);
    const status = await createStatusReader({
      now: Date.now,
      redis,
      config,
      allowlist,
      address: wallet ?? "",
      admission: { counts: () => countClaims({ redis }) },
      allowlistProblem: () => undefined,
    }).read();
    if (asJson) return print(json({ ...status, paying: leader === 1 }));
    const { balance, isLow, symbol, claimsInWindow } = status;
    const amount = (wei: string) => `${formatTokens(wei)} ${symbol}`;
    const claims = `${count(claimsInWindow)} of ${count(limits.overall)} in ${duration(limits.windowMs)}`;
    print(
      fields([
        ["wallet", wallet ?? "unknown: no faucet has run on this Redis yet"],
        ["balance", balance === null ? "unknown" : `${amount(balance)}${isLow ? " (LOW)" : ""}`],
        ["a claim", amount(status.amount)],
        ["claims", claims],
        ["waiting", count(status.waiting)],
        ["under way", count(status.underWay)],
        ["allowlist", count(status.allowlist.entries)],
        ["paused", status.paused ? "yes" : "no"],
        ["paying", leader === 1 ? "yes" : "no replica does at the moment"],
      ]),
    );
  },
};
