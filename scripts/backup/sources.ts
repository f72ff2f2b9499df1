import { join } from "node:path";
import { CommandError } from "../../lib/cli/command.ts";
import type { BackupManifest, BackupPart } from "./archive/manifest.ts";
import type { PackedPart, PartSource } from "./archive/take-backup.ts";
import type { BackupConfig } from "./config.ts";
import { packNetworkKeys } from "./parts/network-keys.ts";
import {
  askFacts,
  type BaseBackups,
  localBaseBackups,
  majorVersion,
  packPostgres,
} from "./parts/postgres.ts";
import { requestedBaseBackups } from "./parts/postgres-requests.ts";
import { findPostgresTools } from "./parts/postgres-tools.ts";
import { packRedis } from "./parts/redis.ts";
import type { ValidatorSource } from "./parts/validator-data.ts";

/**
 * In the order in which they are taken. The faucet's claims come before the api's records: what is paid after its own copy stands on the
 * chain, where both find it again.
 */
export const sourceNames = ["keys", "redis-faucet", "redis", "postgres"] as const;
export type SourceName = (typeof sourceNames)[number];

/** Taken by name only: it is stopped meanwhile. */
const validatorName = "validator" as const;
/** What may be asked for. */
export const askedNames = [...sourceNames, validatorName] as const;

const settings = {
  keys: "networkFolder",
  "redis-faucet": "redisFaucet",
  redis: "redis",
  postgres: "postgres",
} as const satisfies Record<SourceName, keyof BackupConfig>;

/** What a backup has while nobody asks for less. */
export function configuredSources(config: BackupConfig): readonly SourceName[] {
  return sourceNames.filter((name) => config[settings[name]] !== "");
}

/**
 * What is backed up here.
 * @param only those names; undefined: all that the configuration names.
 * @throws CommandError where nothing is, or one of `only` is not.
 */
export function openSources({
  config,
  only,
  validator,
  now,
  path,
}: {
  config: BackupConfig;
  /** Whose data is taken, too. */
  validator?: ValidatorSource | undefined;
  only: readonly (typeof askedNames)[number][] | undefined;
  now: () => number;
  path: string | undefined;
}): { parts: readonly PartSource[]; chain: () => BackupManifest["chain"] } {
  let chain: BackupManifest["chain"];
  const pack = {
    keys: async () => {
      const { chain: theirs, ...packed } = await packNetworkKeys(config.networkFolder);
      chain = theirs;
      return packedAs(packed, "tar", (rest) => ({ name: "keys", ...rest }));
    },
    "redis-faucet": async () =>
      packedAs(await packRedis({ url: config.redisFaucet, name: "the faucet's Redis" }), "rdb", (rest) => ({
        name: "redis-faucet",
        ...rest,
      })),
    redis: async () =>
      packedAs(await packRedis({ url: config.redis, name: "Redis" }), "rdb", (rest) => ({
        name: "redis",
        ...rest,
      })),
    postgres: async (scratch: string) => {
      const take = await baseBackups({ config, path });
      const packed = await packPostgres({
        url: config.postgres,
        folder: join(scratch, "postgres"),
        take,
        now,
      });
      return packedAs(packed, "tar", (rest) => ({ name: "postgres", ...rest }));
    },
  } satisfies Record<SourceName, (scratch: string) => Promise<PackedPart>>;

  const configured = configuredSources(config);
  const wanted: readonly SourceName[] = only?.filter((name) => name !== validatorName) ?? configured;
  const missing = wanted.find((name) => !configured.includes(name));
  if (missing !== undefined)
    throw new CommandError(`${missing}: ${settings[missing]} of the configuration of backups is empty.`, {
      exitCode: 2,
    });
  if (configured.length === 0 && validator === undefined) {
    throw new CommandError(
      "There is nothing to back up: npm start does not run here, and the configuration names no database (BACKUP_POSTGRES_URL, BACKUP_REDIS_URL, …).",
      { exitCode: 1 },
    );
  }
  return {
    parts: [
      ...wanted.map((name) => ({ name, pack: pack[name] })),
      ...(validator === undefined
        ? []
        : [
            {
              name: validatorName,
              around: validator.around,
              pack: async () =>
                packedAs(await validator.pack(), "tar", (rest) => ({ name: validatorName, ...rest })),
            },
          ]),
    ],
    chain: () => chain ?? validator?.chain,
  };
}

async function baseBackups({
  config,
  path,
}: {
  config: BackupConfig;
  path: string | undefined;
}): Promise<BaseBackups> {
  const { postgres: url, postgresRequests, postgresTools, postgresCopyTimeoutMs } = config;
  if (postgresRequests !== "")
    return requestedBaseBackups({ folder: postgresRequests, timeoutMs: postgresCopyTimeoutMs });
  const { serverVersion } = await askFacts(url);
  return localBaseBackups({
    url,
    tools: await findPostgresTools({ version: majorVersion(serverVersion), folder: postgresTools, path }),
  });
}

function packedAs<Facts>(
  { source, facts }: { source: PackedPart["source"]; facts: Facts },
  extension: PackedPart["extension"],
  named: (rest: { file: string; facts: Facts } & Parameters<PackedPart["describe"]>[1]) => BackupPart,
): PackedPart {
  return { source, extension, describe: (file, sealed) => named({ file, ...sealed, facts }) };
}
