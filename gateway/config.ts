import { dirname, resolve } from "node:path";
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
import { addressRange } from "../lib/http-service/client-address.ts";
import { checkApiKey } from "../lib/keys/api-key.ts";
import { network } from "../lib/network.ts";
import { redisUrl } from "../lib/redis/redis-address.ts";
import { answerSettingsSchema } from "./answer-budget/answer-settings.ts";
import { explorerSettingsSchema } from "./explorer/explorer-settings.ts";
import { webSocketSettingsSchema } from "./server/websocket/web-socket-settings.ts";
import { deadlyCallSettingsSchema, traceSettingsSchema } from "./traces/trace-settings.ts";
import { namedUpstreams } from "./upstream/named-upstreams.ts";
import { poolSettingsSchema } from "./upstream/pool/pool-settings.ts";

export type GatewayConfig = z.output<typeof configSchema> & { limits: { requestsPerMinute: number } };
export type ConfiguredKey = GatewayConfig["keys"][number];
export type GatewayLimits = GatewayConfig["limits"];
export type ConnectionSettings = GatewayConfig["connections"];
export type BodySettings = GatewayConfig["bodies"];

/**
 * Reads `config/gateway.yaml` or another file of its shape. `profile` overrides what the file says.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readGatewayConfig({
  file,
  env,
  profile,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  profile?: string | undefined;
}): GatewayConfig {
  const config = readConfig({
    file,
    schema: configSchema,
    env,
    overrides: profile === undefined ? {} : { profile },
  });
  return {
    ...config,
    methodsFile: resolve(dirname(file), config.methodsFile),
    tls: config.tls && {
      certFile: resolve(dirname(file), config.tls.certFile),
      keyFile: resolve(dirname(file), config.tls.keyFile),
    },
    limits: {
      ...config.limits,
      requestsPerMinute: config.limits.requestsPerMinute ?? requestsPerMinuteDefault[config.profile],
    },
  };
}

const requestsPerMinuteDefault = { development: 100, production: 200 } as const;

const genesisExpected = "a block's hash (0x and 64 hexadecimal digits) was expected, or nothing";

const keySchema = z.strictObject({
  label: z.string().min(1).max(120),
  team: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "a team's name (a-z, 0-9 and -, up to 63) was expected"),
  value: z
    .string()
    .min(16, "at least 16 characters were expected")
    .max(200)
    .regex(/^[\x21-\x7e]+$/, "printable ASCII without spaces was expected, as a header can carry it")
    .refine((value) => checkApiKey(value) !== "mistyped", {
      error: "this looks like a key of ours but its checksum does not match: a typing error?",
    }),
  permissions: z.array(z.enum(["rpc", "faucet", "explorer"])).min(1),
  limitPerMinute: bounded(1_000_000_000).optional(),
  qa: z.boolean().optional(),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
});

/** Both files or, with two empty names as an unset environment leaves them, no TLS. */
const tlsSchema = z
  .strictObject({ certFile: z.string().default(""), keyFile: z.string().default("") })
  .refine(({ certFile, keyFile }) => (certFile === "") === (keyFile === ""), {
    error: "certFile and keyFile belong together: name both, or none",
  })
  .transform((files) => (files.certFile === "" ? undefined : files));

const mebibyte = 1024 * 1024;
const heldBytes = bounded(64 * 1024 * mebibyte);

/** The shape of the file. */
export const configSchema = z
  .strictObject({
    profile: profile.default("development"),
    host: z.string().default("127.0.0.1"),
    port: port.default(8540),
    workers: z.union([z.literal("auto"), bounded(256)]).default(1),
    ops: privateListener(9540),
    tls: tlsSchema.optional(),
    redis: redisUrl.default("redis://127.0.0.1:6379"),
    redisCommandTimeoutMs: bounded(10_000).default(250),
    upstreams: namedUpstreams({ min: 1, prefix: "validator" }),
    traceUpstreams: namedUpstreams({ min: 0, prefix: "trace-node" }).default([]),
    newHeads: z.enum(["auto", "none"]).default("auto"),
    chainId: z.int().min(1).default(network.chainId),
    genesisHash: z
      .union([z.literal(""), z.string().regex(/^0x[0-9a-fA-F]{64}$/, genesisExpected)])
      .default(""),
    blockTimeMs: bounded(600_000).default(2000),
    trustedProxies: commaList(addressRange, 256).default([]),
    faucetUrl: z.literal("").or(httpUrl).default(""),
    explorerUrl: z.literal("").or(httpUrl).default(""),
    explorer: explorerSettingsSchema.prefault({}),
    methodsFile: z.string().default("methods.yaml"),
    log: logSettings,
    limits: z
      .strictObject({
        requestsPerMinute: bounded(1_000_000_000).optional(),
        bodyBytesMax: bounded(64 * 1024 * 1024).default(1024 * 1024),
        bodyTimeoutMs: bounded(30_000).default(20_000),
        chunkedBodies: z.enum(["take", "refuse"]).default("take"),
        chunkedStallMs: bounded(30_000).default(1000),
        batchItemsMax: bounded(1000).default(100),
        depthMax: bounded(500).default(64),
        transactionBytesMax: bounded(16 * 1024 * 1024).default(128 * 1024),
        requestsInFlightMax: bounded(1_000_000).default(10_000),
      })
      .prefault({}),
    keyLookUps: z
      .strictObject({
        unknownPerSecondMax: bounded(1_000_000).default(500),
        refusedPerSecondMax: bounded(1_000_000).default(10),
        unknownKeysMax: bounded(1_000_000).default(10_000),
        failuresPerSecondMax: bounded(1_000_000).default(500),
      })
      .prefault({}),
    connections: z
      .strictObject({
        max: bounded(1_000_000).default(10_000),
        perAddressMax: bounded(1_000_000).default(1000),
      })
      .prefault({}),
    bodies: z
      .strictObject({
        readingMax: bounded(1_000_000).default(2000),
        readingPerKeyMax: bounded(1_000_000).default(200),
        readingPerAddressMax: bounded(1_000_000).default(200),
        heldBytesMax: heldBytes.default(64 * mebibyte),
        heldBytesPerKeyMax: heldBytes.default(16 * mebibyte),
        heldBytesPerAddressMax: heldBytes.default(16 * mebibyte),
        droppedBytesMax: bounded(1024 * mebibyte).default(16 * mebibyte),
      })
      .prefault({}),
    webSocket: webSocketSettingsSchema.prefault({}),
    filters: z
      .strictObject({
        // They are counted one by one in Redis.
        perKeyMax: bounded(10_000).default(100),
        bytesPerKeyMax: bounded(64 * 1024 * 1024).default(1024 * 1024),
        idleMsMax: bounded(24 * 60 * 60_000).default(5 * 60_000),
        blocksPerPollMax: bounded(5000).default(256),
      })
      .prefault({}),
    memory: z
      .strictObject({
        bytesMax: bounded(64 * 1024 * 1024 * 1024, 0).default(64 * 1024 * 1024),
        entryBytesMax: bounded(64 * 1024 * 1024).default(256 * 1024),
      })
      .prefault({}),
    answers: answerSettingsSchema.prefault({}),
    forward: poolSettingsSchema.prefault({}),
    traces: traceSettingsSchema.prefault({}),
    deadlyCalls: deadlyCallSettingsSchema.prefault({}),
    drainDelayMs: bounded(300_000, 0).default(0),
    stopTimeoutMs: bounded(60_000).default(4200),
    keys: z
      .array(keySchema)
      .default([])
      .refine(
        (keys) => new Set(keys.map(({ value }) => value)).size === keys.length,
        "a value stands here twice",
      ),
  })
  .refine(
    ({ upstreams, traceUpstreams }) =>
      traceUpstreams.every(({ url }) => upstreams.every((upstream) => upstream.url !== url)),
    {
      path: ["traceUpstreams"],
      error: "a node that runs traces stands among the validators too: traces would end those",
    },
  )
  .refine(
    ({ upstreams, traceUpstreams }) =>
      traceUpstreams.every(({ name }) => upstreams.every((upstream) => upstream.name !== name)),
    { path: ["traceUpstreams"], error: "a node that runs traces has the name of a validator" },
  )
  .check(({ value: { bodies, limits }, issues }) => {
    for (const name of ["heldBytesMax", "heldBytesPerKeyMax", "heldBytesPerAddressMax"] as const) {
      if (bodies[name] >= 2 * limits.bodyBytesMax) continue;
      issues.push({
        code: "custom",
        input: bodies[name],
        path: ["bodies", name],
        message: `at least twice limits.bodyBytesMax (${limits.bodyBytesMax}) was expected, or no body of that size could be read`,
      });
    }
  })
  .check(({ value: { profile, keys }, issues }) => {
    if (profile === "development") return;
    for (const [index, { label }] of keys.entries()) {
      issues.push({
        code: "custom",
        input: label,
        path: ["keys", index],
        message:
          `"${label}" is a development key, and the production profile refuses those: its secret stands in a file. ` +
          "Take it out, and make keys with: npm run keys -- create",
      });
    }
  });
