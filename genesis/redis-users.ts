import { randomBytes } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type SecretFile, writeSecrets } from "./write-secrets.ts";

/** Who connects to which server of docker/compose.yaml as a user of its own; docker/redis/users/ has their rights. */
const users = [
  { name: "gateway", server: "redis" },
  { name: "api", server: "redis" },
  { name: "keys", server: "redis" },
  { name: "backup", server: "redis" },
  { name: "faucet", server: "redis-faucet" },
  { name: "faucet-backup", server: "redis-faucet" },
] as const;

/** An address with a new password for each user. docker/redis/start.sh reads the passwords out of the same files. */
export function redisUserSecrets(): SecretFile[] {
  return users.map(({ name, server }) => ({
    path: join("secrets", `redis-user-${name}`),
    content: `redis://${name}:${randomBytes(24).toString("base64url")}@${server}:6379\n`,
  }));
}

/**
 * Makes what a network of an older version lacks of them. What is there stays.
 * @throws Error where the folder cannot be written.
 */
export async function addRedisUsers(folder: string): Promise<void> {
  for (const file of redisUserSecrets()) {
    const isThere = await access(join(folder, file.path)).then(
      () => true,
      () => false,
    );
    const failure = isThere ? undefined : await writeSecrets(folder, [file]);
    if (failure !== undefined) throw new Error(failure);
  }
}
