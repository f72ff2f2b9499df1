import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { getAddress, isAddress } from "ethers/address";
import { z } from "zod";
import { ConfigError, readConfig } from "../lib/config/read-config.ts";
import {
  bounded,
  commaList,
  httpUrl,
  logSettings,
  port,
  privateListener,
  profile,
  url,
} from "../lib/config/schemas.ts";
import { type FeeSettings, readFeeSettings } from "../lib/fee-collector/fee-settings.ts";
import { addressRange } from "../lib/http-service/client-address.ts";
import { redisUrl } from "../lib/redis/redis-address.ts";
import {
  type InvoicesConfig,
  invoicesConfigOf,
  invoicesSchema,
} from "./merchant/invoices/invoices-config.ts";
import { payerRpcSchema } from "./merchant/payer-rpc/payer-rpc-config.ts";
import { type SvcDevConfig, svcDevConfigOf, svcDevProblem, svcDevSchema } from "./merchant/svc-dev-config.ts";

export type ApiConfig = Omit<z.output<typeof configSchema>, "feesFile" | "svcDev" | "invoices"> & {
  svcDev: SvcDevConfig;
  invoices: InvoicesConfig;
  /** Undefined where no fees are taken. */
  fees: FeeSettings | undefined;
};

/**
 * Reads `config/api.yaml` or another file of its shape; paths in it count from its folder. `profile` overrides what the
 * file says.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readApiConfig({
  file,
  env,
  profile: named,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  profile?: string | undefined;
}): ApiConfig {
  const overrides = named === undefined ? {} : { profile: named };
  const { feesFile, ...config } = readConfig({ file, schema: configSchema, env, overrides });
  const place = { profile: config.profile, folder: dirname(file) };
  return {
    ...config,
    fees:
      feesFile === ""
        ? undefined
        : readFeeSettings({ file: resolve(dirname(file), feesFile), env, profile: place.profile }),
    svcDev: svcDevConfigOf({ svcDev: config.svcDev, ...place }),
    invoices: invoicesConfigOf({ invoices: config.invoices, ...place }),
    contractsFolder: config.contractsFolder === "" ? "" : resolve(dirname(file), config.contractsFolder),
    postgres: { ...config.postgres, url: withPassword(config.postgres, file) },
  };
}

/** A password in a file of its own goes into the URL, so that the URL can stand where everybody reads it. */
function withPassword(
  { url: text, passwordFile }: { url: string; passwordFile: string },
  configFile: string,
): string {
  if (passwordFile === "") return text;
  const parsed = new URL(text);
  try {
    const password = readFileSync(resolve(dirname(configFile), passwordFile), "utf8").trim();
    parsed.password = encodeURIComponent(password);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : cause;
    throw new ConfigError([`${configFile}: postgres.passwordFile: ${passwordFile} cannot be read (${code})`]);
  }
  return parsed.href;
}

const dayMs = 86_400_000;

const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    "an origin such as https://example.org was expected",
  );

const names = z
  .record(z.string().refine(isAddress, "an address was expected"), z.string().min(1).max(80))
  .transform((given) =>
    Object.fromEntries(Object.entries(given).map(([address, name]) => [getAddress(address), name])),
  );

/** The shape of the file. */
export const configSchema = z
  .strictObject({
    profile: profile.default("development"),
    host: z.string().default("127.0.0.1"),
    port: port.default(4000),
    workers: z.union([z.literal("auto"), bounded(256)]).default(1),
    ops: privateListener(5000),
    redis: redisUrl.default("redis://127.0.0.1:6379"),
    redisCommandTimeoutMs: bounded(10_000).default(1000),
    postgres: z
      .strictObject({
        url: url(["postgres:", "postgresql:"]).default("postgres://tollgate@127.0.0.1:5432/tollgate"),
        passwordFile: z.string().default(""),
        connectionsMax: bounded(100).default(10),
        statementTimeoutMs: bounded(60_000).default(5000),
      })
      .prefault({}),
    upstream: httpUrl.default("http://127.0.0.1:8540"),
    upstreamApiKey: z.string().default(""),
    upstreamTimeoutMs: bounded(60_000).default(10_000),
    headPollMs: bounded(60_000).default(2000),
    /** Each validator's own RPC, of which the seals of a block are asked; none: the gateway's answer has to do. */
    sealSources: commaList(httpUrl, 64).default([]),
    trustedProxies: commaList(addressRange, 256).default([]),
    origins: commaList(origin, 2).default([]),
    publicUrl: httpUrl.default("http://127.0.0.1:4000"),
    /** Where the explorer's pages lead to; empty: there is no link. */
    faucetUrl: z.union([z.literal(""), httpUrl]).default(""),
    walletProxyUrl: z.union([z.literal(""), httpUrl]).default(""),
    contractsFolder: z.string().default("contracts"),
    feesFile: z.string().default(""),
    ledger: z
      .strictObject({
        pollMs: bounded(60_000).default(2000),
        rangeBlocksMax: bounded(1000).default(1000),
        boxesMax: bounded(100_000).default(10_000),
      })
      .prefault({}),
    names: names.prefault({}),
    blockTimeSeconds: bounded(3600).default(2),
    stalledAfterMs: bounded(dayMs).default(20_000),
    limits: z
      .strictObject({
        points: bounded(1_000_000_000).optional(),
        windowSeconds: bounded(86_400).default(60),
      })
      .prefault({}),
    session: z
      .strictObject({
        lifetimeSeconds: bounded(604_800).default(43_200),
        perWalletMax: bounded(1000).default(20),
        nonceSeconds: bounded(3600).default(300),
        noncesPerMinute: bounded(1_000_000).default(20),
        signInsPerMinute: bounded(1_000_000).default(20),
      })
      .prefault({}),
    svcDev: svcDevSchema,
    invoices: invoicesSchema,
    payerRpc: payerRpcSchema,
    bodyBytesMax: bounded(1_048_576).default(65_536),
    requestTimeoutMs: bounded(300_000).default(15_000),
    cacheBytesMax: bounded(4_294_967_296).default(67_108_864),
    live: z
      .strictObject({
        clientsMax: bounded(100_000).default(2000),
        perAddressMax: bounded(1000).default(5),
        replayMax: bounded(10_000).default(128),
        heartbeatMs: bounded(60_000).default(15_000),
      })
      .prefault({}),
    /** Pages of payment links that listen for news of the payment. */
    checkout: z
      .strictObject({
        clientsMax: bounded(100_000).default(1000),
        perAddressMax: bounded(1000).default(5),
        heartbeatMs: bounded(60_000).default(15_000),
      })
      .prefault({}),
    log: logSettings,
  })
  .check(({ value, issues }) => {
    const problem = svcDevProblem(value);
    if (problem !== undefined) issues.push({ code: "custom", input: undefined, ...problem });
    const { workers, postgres } = value;
    if (workers !== "auto" && workers > workersMaxOf(postgres)) {
      const expected = `at least ${workers * workerConnectionsMin} for ${workers} workers were expected, which divide them`;
      issues.push({
        code: "custom",
        input: undefined,
        path: ["postgres", "connectionsMax"],
        message: expected,
      });
    }
    if (value.profile === "production" && value.origins.length !== 2) {
      issues.push({
        code: "custom",
        input: undefined,
        path: ["origins"],
        message:
          "the two origins that may read the API were expected, the explorer's and the main site's (API_ORIGINS, with a comma)",
      });
    }
  });

/** A worker with one connection would answer one list at a time. */
const workerConnectionsMin = 2;

/** For how many workers the connections to PostgreSQL are enough. One process takes what there is. */
export function workersMaxOf({ connectionsMax }: ApiConfig["postgres"]): number {
  return Math.max(1, Math.floor(connectionsMax / workerConnectionsMin));
}

/** Requests a minute: what the file says, else what the profile has. */
export function pointsOf({
  limits: { points },
  profile: name,
}: Pick<ApiConfig, "limits" | "profile">): number {
  return points ?? (name === "production" ? 200 : 100);
}
