import { dirname, resolve } from "node:path";
import { isHexString } from "ethers/utils";
import { z } from "zod";
import { readConfig } from "../lib/config/read-config.ts";
import {
  bounded,
  commaList,
  httpUrl,
  logSettings,
  port,
  privateListener,
  profile,
} from "../lib/config/schemas.ts";
import { tokenAmount } from "../lib/config/token-amount.ts";
import { addressRange } from "../lib/http-service/client-address.ts";
import { redisUrl } from "../lib/redis/redis-address.ts";
import type { WalletSource } from "./wallet.ts";

export type FaucetConfig = Omit<z.output<typeof configSchema>, "wallet"> & { wallet: WalletSource };

/**
 * Reads `config/faucet.yaml` or another file of its shape; paths in it count from its folder. `profile` overrides what
 * the file says.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readFaucetConfig({
  file,
  env,
  profile,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  profile?: string | undefined;
}): FaucetConfig {
  const overrides = profile === undefined ? {} : { profile };
  const config = readConfig({ file, schema: configSchema, env, overrides });
  const { developmentKey, keystoreFile, passwordFile, password } = config.wallet;
  const path = (name: string) => (name === "" ? "" : resolve(dirname(file), name));
  return {
    ...config,
    allowlistFile: path(config.allowlistFile),
    wallet:
      keystoreFile === ""
        ? { kind: "development", privateKey: developmentKey }
        : { kind: "keystore", file: path(keystoreFile), passwordFile: path(passwordFile), password },
  };
}

const dayMs = 86_400_000;

const gweiInWei = 1_000_000_000n;

const walletSchema = z.strictObject({
  keystoreFile: z.string().default(""),
  passwordFile: z.string().default(""),
  password: z.string().default(""),
  developmentKey: z
    .string()
    .refine((text) => text === "" || isHexString(text, 32), "a private key (0x and 64 digits) was expected")
    .default(""),
});

/** The shape of the file. */
export const configSchema = z
  .strictObject({
    profile: profile.default("development"),
    host: z.string().default("127.0.0.1"),
    port: port.default(4001),
    private: privateListener(4002),
    ops: privateListener(5001),
    redis: redisUrl.default("redis://127.0.0.1:6379"),
    redisCommandTimeoutMs: bounded(10_000).default(1000),
    upstream: httpUrl.default("http://127.0.0.1:8545"),
    upstreamApiKey: z.string().default(""),
    upstreamTimeoutMs: bounded(60_000).default(5000),
    trustedProxies: commaList(addressRange, 256).default([]),
    allowlistFile: z.string().default("faucet-allowlist.yaml"),
    allowlistPollMs: bounded(60_000).default(1000),
    amount: tokenAmount.prefault("10"),
    lowBalance: tokenAmount.prefault("1000"),
    limits: z
      .strictObject({
        perAddress: bounded(1000).default(1),
        perClient: bounded(100_000).default(5),
        perTeam: bounded(100_000).default(50),
        overall: bounded(1_000_000).default(1000),
        windowMs: bounded(31 * dayMs).default(dayMs),
        refusals: bounded(1_000_000).default(30),
        refusalsWindowMs: bounded(dayMs).default(60_000),
      })
      .prefault({}),
    bodyBytesMax: bounded(64 * 1024).default(4096),
    requestTimeoutMs: bounded(300_000).default(15_000),
    queueMax: bounded(100_000).default(1000),
    inFlightMax: bounded(190).default(150),
    idempotencyMs: bounded(31 * dayMs).default(dayMs),
    recordsKeptMs: bounded(366 * dayMs).default(7 * dayMs),
    pollMs: bounded(60_000).default(250),
    idlePollMs: bounded(60_000).default(2000),
    resendAfterMs: bounded(600_000).default(10_000),
    giveUpAfterMs: bounded(600_000).default(30_000),
    leaderMs: bounded(60_000).default(3000),
    wallet: walletSchema,
    fees: z
      .strictObject({
        gasLimit: z.int().min(21_320).max(10_000_000).default(40_000),
        maxFeePerGasGwei: z.int().min(0).max(1_000_000).default(1),
        maxPriorityFeePerGasGwei: z.int().min(0).max(1_000_000).default(0),
      })
      .prefault({})
      .transform(({ gasLimit, maxFeePerGasGwei, maxPriorityFeePerGasGwei }) => ({
        gasLimit,
        maxFeePerGasWei: BigInt(maxFeePerGasGwei) * gweiInWei,
        maxPriorityFeePerGasWei: BigInt(maxPriorityFeePerGasGwei) * gweiInWei,
      })),
    walletRpcUrl: httpUrl.default("http://127.0.0.1:8541/"),
    explorerUrl: z.literal("").or(httpUrl).default(""),
    walletProxyGuide: z.literal("").or(httpUrl).default(""),
    contact: z.string().trim().max(200).default(""),
    log: logSettings,
  })
  .check(({ value, issues }) => {
    const { keystoreFile, developmentKey } = value.wallet;
    const issue = (path: string[], message: string) =>
      issues.push({ code: "custom", input: undefined, path, message });
    if (keystoreFile === "" && developmentKey === "") {
      issue(["wallet"], "a keystoreFile was expected, or in the development profile a developmentKey");
    }
    if (value.profile === "production" && keystoreFile === "" && developmentKey !== "") {
      issue(
        ["wallet", "developmentKey"],
        "the production profile takes an encrypted keystore only: this key stands in a file in the clear",
      );
    }
    if (value.recordsKeptMs < Math.max(value.idempotencyMs, value.limits.windowMs)) {
      issue(["recordsKeptMs"], "at least idempotencyMs and limits.windowMs were expected");
    }
    if (value.idlePollMs < value.pollMs) issue(["idlePollMs"], "at least pollMs was expected");
  });
