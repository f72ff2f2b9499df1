import { createHash } from "node:crypto";
import { Cluster, type Redis } from "ioredis";
import { confirmWrites } from "./confirm-writes.ts";
import type { RedisClient } from "./redis-client.ts";
import { sendToOwner } from "./send-to-owner.ts";

export type Script = {
  lua: string;
  sha1: string;
  /** It only reads, so that a user of Redis who may not write its keys can run it. */
  readsOnly: boolean;
};

export function defineScript(lua: string, { readsOnly = false }: { readsOnly?: boolean } = {}): Script {
  return { lua, sha1: createHash("sha1").update(lua).digest("hex"), readsOnly };
}

/**
 * Runs a script by its SHA-1, and by its text where this Redis has not seen it yet (after a restart or a failover). In a
 * cluster it goes to the node that has the keys, which are of one hash tag, and what it writes waits for a replica: see
 * `confirmWrites`.
 *
 * Nothing is asked twice, unless Redis has said that it did nothing: a command whose answer was lost may have been carried out.
 */
export async function runScript({
  redis,
  script,
  keys,
  args,
}: {
  redis: RedisClient;
  script: Script;
  keys: readonly string[];
  args: readonly (string | number)[];
}): Promise<unknown> {
  if (!(redis instanceof Cluster)) return runOnNode({ node: redis, script, keys, args });
  const [key = ""] = keys;
  return sendToOwner(redis, key, (node, ask) =>
    runOnNode({
      ...{ node, script, keys, args, ask },
      // Sent right behind it, so that both travel together.
      confirm: () => (script.readsOnly ? undefined : confirmWrites({ cluster: redis, node, key })),
    }),
  );
}

async function runOnNode({
  node,
  script: { sha1, lua, readsOnly },
  keys,
  args,
  ask = () => {},
  confirm = () => undefined,
}: {
  node: Redis;
  script: Script;
  keys: readonly string[];
  args: readonly (string | number)[];
  ask?: () => void;
  confirm?: () => Promise<void> | undefined;
}): Promise<unknown> {
  const run = async (sent: Promise<unknown>) => (await Promise.all([sent, confirm()]))[0];
  try {
    ask();
    return await run(
      readsOnly
        ? node.evalsha_ro(sha1, keys.length, ...keys, ...args)
        : node.evalsha(sha1, keys.length, ...keys, ...args),
    );
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    ask();
    return run(
      readsOnly
        ? node.eval_ro(lua, keys.length, ...keys, ...args)
        : node.eval(lua, keys.length, ...keys, ...args),
    );
  }
}
