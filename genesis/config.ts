import { isAddress } from "ethers/address";
import { z } from "zod";
import { readConfig } from "../lib/config/read-config.ts";
import { bounded, fixedPort, httpUrl, profile } from "../lib/config/schemas.ts";
import { network } from "../lib/network.ts";

export type NetworkConfig = z.output<typeof configSchema>;
export const validatorsMax = 32;
/** With fewer the chain stalls as soon as one is down. */
export const validatorsForOneFault = 4;

/**
 * Reads `config/network.yaml` or another file of its shape. `overrides` replace what the file says at its top level.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readNetworkConfig({
  file,
  env,
  overrides = {},
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  overrides?: Readonly<Record<string, unknown>>;
}): NetworkConfig {
  return readConfig({ file, schema: configSchema, env, overrides });
}

const tokensMax = 1_000_000_000_000;
const holder = (tokens: number) =>
  z
    .strictObject({
      address: z
        .string()
        .refine((text) => text === "" || isAddress(text), {
          error:
            "an account's address (0x and 40 hexadecimal digits, checksum right) was expected, or nothing",
        })
        .default(""),
      tokens: bounded(tokensMax, 0).default(tokens),
    })
    .prefault({});

const ipv4 = z
  .ipv4("an IPv4 address such as 172.28.84.11 was expected")
  .refine(
    (text) => Number(text.split(".")[3]) + validatorsMax < 255,
    `the last part must leave room for ${validatorsMax} validators and a trace node (at most ${254 - validatorsMax})`,
  );

const nodeSchema = z
  .strictObject({
    storage: z.enum(["forest", "bonsai"]).default("forest"),
    httpConnectionsMax: bounded(100_000).default(500),
    webSocketConnectionsMax: bounded(100_000).default(500),
    httpBatchItemsMax: bounded(100_000).default(1024),
    callGasMax: bounded(10_000_000_000, 21_000).default(50_000_000),
    logsRangeBlocksMax: bounded(1_000_000).default(5000),
    traceFilterBlocksMax: bounded(1_000_000).default(1000),
    blockSelectionPercent: bounded(100).default(75),
    peerAllowlist: z.boolean().default(false),
    javaMemoryMb: bounded(65_536, 256).default(1024),
    moreOptions: z
      .record(
        z.string().regex(/^[a-zA-Z][a-zA-Z0-9-]*$/, "an option's name without -- was expected"),
        z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
      )
      .default({}),
  })
  .prefault({});

const configSchema = z
  .strictObject({
    profile: profile.default("development"),
    // Without slashes at the end, which a shell's completion leaves there.
    folder: z
      .string()
      .regex(/[^/]/, "a folder's path was expected")
      .transform((text) => text.replace(/\/+$/, ""))
      .default("network"),
    chainId: bounded(Number.MAX_SAFE_INTEGER).default(network.chainId),
    consensus: z.enum(["ibft2", "qbft"]).default("ibft2"),
    validators: bounded(validatorsMax).default(5),
    blockSeconds: bounded(600).default(network.blockTimeSeconds),
    requestTimeoutSeconds: bounded(3600).default(4),
    epochBlocks: bounded(1_000_000).default(30_000),
    gasLimit: bounded(1_000_000_000, 5000).default(30_000_000),
    allocation: z
      .strictObject({
        treasury: holder(100_000_000),
        faucet: holder(10_000_000),
        developmentAccounts: z
          .strictObject({ tokens: bounded(tokensMax, 0).default(1_000_000) })
          .prefault({}),
      })
      .prefault({}),
    wallet: z
      .strictObject({
        rpcUrl: httpUrl.default("http://127.0.0.1:8541/"),
        explorerUrl: httpUrl.default("http://127.0.0.1:8541/explorer/"),
      })
      .prefault({}),
    node: nodeSchema,
    traceNode: z
      .strictObject({
        enabled: z.boolean().default(false),
        javaMemoryMb: bounded(65_536, 256).default(2048),
      })
      .prefault({}),
    containers: z
      .strictObject({
        firstAddress: ipv4.default("172.28.84.11"),
        peerPort: fixedPort.default(30_303),
        httpPort: fixedPort.default(8545),
        metricsPort: fixedPort.default(9545),
      })
      .prefault({}),
    native: z.strictObject({ portBase: bounded(65_000, 1024).default(8600) }).prefault({}),
    status: z
      .strictObject({
        stalledAfterSeconds: bounded(3600).default(10),
        windowBlocks: bounded(1000).default(100),
      })
      .prefault({}),
  })
  .refine(({ requestTimeoutSeconds, blockSeconds }) => requestTimeoutSeconds > blockSeconds, {
    path: ["requestTimeoutSeconds"],
    error: "more than blockSeconds was expected, or no round could end with a block",
  })
  .refine(({ profile, validators }) => profile === "development" || validators >= validatorsForOneFault, {
    path: ["validators"],
    error: `at least ${validatorsForOneFault} were expected in the production profile: fewer can afford no fault`,
  });
