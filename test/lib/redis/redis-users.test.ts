import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { apiRequestsKey, sessionNonceKey } from "../../../lib/redis/keys/api.ts";
import {
  keyChangesChannel,
  keyIdsKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../../../lib/redis/keys/api-keys.ts";
import {
  faucetClaimKey,
  faucetNonceKey,
  faucetPausedKey,
  faucetQueueKey,
} from "../../../lib/redis/keys/faucet.ts";
import { filterRowKey, keyBudgetKey, pendingStreamKey } from "../../../lib/redis/keys/gateway.ts";
import { soldKeyKey } from "../../../lib/redis/keys/svc-dev.ts";
import {
  aclRules,
  faucetRedisUsers,
  type RedisUser,
  sharedRedisUsers,
} from "../../../lib/redis/redis-users.ts";
import { startOwnRedis } from "../../../scripts/processes/own-redis.ts";

/* What each process may not do. That it may do what it does is seen by all tests with a Redis: they run as these users. */

const password = "a-password";
const users = [...sharedRedisUsers("production"), ...faucetRedisUsers];
const server = await startOwnRedis(t, {
  more: ["--enable-debug-command", "yes"],
  users: users.map((user) => `${user.name} on >${password} ${aclRules(user)}`),
});

const record = keyRecordKey("00".repeat(32));
const budget = keyBudgetKey({ team: "acme", keyId: "k1" });
const filter = filterRowKey({ keyId: "k1", id: "0x1" });
const claim = faucetClaimKey("c1");
const nothing = "return redis.call('HSET', KEYS[1], 'limitPerMinute', '1')";

/** Each of them does harm, or tells more than its process needs. */
const refused: Readonly<
  Record<RedisUser["name"], readonly (readonly [what: string, ...command: string[]])[]>
> = {
  gateway: [
    ["make a key", "HSET", record, "id", "k1"],
    ["make a key by a script", "EVAL", nothing, "1", record],
    ["name a key that it reads to a script that may write", "EVAL", "return 1", "1", record],
    [
      "reach a key that a script was not given",
      "EVAL",
      `return redis.call('HSET', '${record}', 'a', '1')`,
      "0",
    ],
    ["index a key", "HSET", keyIdsKey, "k1", "00"],
    ["raise a team's cap", "HSET", keyTeamsKey, "acme", "{}"],
    ["tell other gateways of a change", "PUBLISH", keyChangesChannel, "{}"],
    ["take the keys' history back", "SET", keyVersionKey, "1"],
    ["hear other channels", "SUBSCRIBE", "others"],
    ["read a wallet's nonce to sign in with", "GET", sessionNonceKey("n")],
    ["give a sold key other rights", "SET", soldKeyKey("00"), "{}"],
    ["read a claim", "HGETALL", claim],
  ],
  api: [
    ["read a key", "HGETALL", record],
    ["list keys", "HGETALL", keyIdsKey],
    ["give a key more calls", "HSET", budget, "u", "0"],
    ["read a filter", "HGETALL", filter],
    ["hear of keys", "SUBSCRIBE", keyChangesChannel],
  ],
  keys: [
    ["give a key more calls", "HSET", budget, "u", "0"],
    ["forget what a key has used", "DEL", budget],
    ["read a filter", "HGETALL", filter],
    ["read who signs in", "GET", sessionNonceKey("n")],
    ["forget an address's limit", "DEL", apiRequestsKey("192.0.2.1")],
  ],
  faucet: [
    ["read a key", "HGETALL", record],
    ["make a key", "HSET", record, "id", "k1"],
    ["add to a stream of transactions", "XADD", pendingStreamKey, "*", "hash", "0x"],
    ["have writes wait for no disk", "CONFIG", "SET", "appendfsync", "no"],
    ["write Redis's configuration", "CONFIG", "REWRITE"],
  ],
  "faucet-operator": [
    ["change a claim", "HSET", claim, "status", "received"],
    ["have a nonce signed twice", "SET", faucetNonceKey, "1"],
    ["put a claim into the queue", "RPUSH", faucetQueueKey, "c1"],
    ["read a key", "HGETALL", record],
    ["read Redis's configuration", "CONFIG", "GET", "*"],
  ],
  backup: [
    ["read a key", "HGETALL", record],
    ["write a key", "HSET", record, "id", "k1"],
    ["run a script", "EVAL", "return 1", "0"],
    ["hear of keys", "SUBSCRIBE", keyChangesChannel],
  ],
  "faucet-backup": [
    ["read a claim", "HGETALL", claim],
    ["unpause the faucet", "DEL", faucetPausedKey],
  ],
};

/** What no process may do, whatever it holds. */
const refusedToAll: readonly (readonly string[])[] = [
  ["FLUSHALL"],
  ["FLUSHDB"],
  ["KEYS", "*"],
  ["SCAN", "0"],
  ["DBSIZE"],
  ["CONFIG", "SET", "requirepass", "x"],
  ["DEBUG", "SLEEP", "0"],
  ["SCRIPT", "FLUSH"],
  ["FUNCTION", "FLUSH"],
  ["ACL", "LIST"],
  ["ACL", "SETUSER", "somebody"],
  ["CLIENT", "LIST"],
  ["CLIENT", "KILL", "ID", "1"],
  ["CLIENT", "PAUSE", "1"],
  ["MONITOR"],
  ["SHUTDOWN"],
  ["SAVE"],
  ["BGREWRITEAOF"],
  ["REPLICAOF", "127.0.0.1", "1"],
  ["FAILOVER"],
  ["CLUSTER", "RESET"],
  ["MODULE", "LIST"],
  ["SWAPDB", "0", "1"],
  ["MIGRATE", "127.0.0.1", "1", "x", "0", "1"],
  ["RESTORE", "x", "0", "x"],
  ["DUMP", "x"],
  ["SLOWLOG", "GET"],
  ["LATENCY", "RESET"],
];

for (const { name } of users) {
  t.test(`${name} may not`, async (t) => {
    const redis = connect(t, `redis://${name}:${password}@127.0.0.1:${server.port}`);
    for (const [what, ...command] of refused[name])
      t.match(await answer(redis, command), /NOPERM|No permissions|can't (run|access)/, what);
    for (const command of refusedToAll) t.match(await answer(redis, command), /NOPERM/, command.join(" "));
  });
}

t.test(
  "a gateway of the development profile, which puts its keys into Redis, may do nothing else besides",
  async (t) => {
    const [production, development] = (["production", "development"] as const).map((profile) =>
      sharedRedisUsers(profile).find(({ name }) => name === "gateway"),
    );
    const more = (a: readonly string[] = [], b: readonly string[] = []) =>
      b.filter((one) => !a.includes(one));
    t.same(more(production?.writes, development?.writes), ["{keys}:*"]);
    t.same(more(production?.commands, development?.commands), ["hsetnx", "publish"]);
    t.same(more(production?.channels, development?.channels), []);
  },
);

t.test("each may do something, with the password alone", async (t) => {
  const open = (user: string) => connect(t, `redis://${user}:${password}@127.0.0.1:${server.port}`);
  t.equal(await answer(open("gateway"), ["HSET", filter, "kind", "logs"]), "1");
  t.equal(await answer(open("keys"), ["HSET", record, "id", "k1"]), "1");
  t.equal(
    await answer(open("gateway"), ["EVAL_RO", "return redis.call('HGET', KEYS[1], 'id')", "1", record]),
    "k1",
  );
  t.equal(await answer(open("api"), ["SET", apiRequestsKey("a"), "1"]), "OK");
  t.equal(await answer(open("faucet"), ["SET", faucetPausedKey, "1"]), "OK");
  t.equal(await answer(open("faucet-operator"), ["DEL", faucetPausedKey]), "1");
  t.match(await answer(connect(t, `redis://gateway:other@127.0.0.1:${server.port}`), ["PING"]), /WRONGPASS/);
});

t.test("every key that is named in lib/redis/keys belongs to a user", async (t) => {
  const folder = fileURLToPath(new URL("../../../lib/redis/keys", import.meta.url));
  const patterns = users.flatMap(({ writes }) => writes).map(regular);
  let count = 0;
  for (const file of readdirSync(folder)) {
    const text = readFileSync(`${folder}/${file}`, "utf8");
    // What stands in quotes or backquotes behind `= ` or `return ` is a key, a prefix of keys, or a channel.
    for (const [, name = ""] of text.matchAll(/(?:= |return )["`]([^"`]+)["`];/g)) {
      const key = name.replace(/\$\{[^}]*\}/g, "x").replace(/^failures$/, "failures:x");
      count += 1;
      t.ok(
        patterns.some((pattern) => pattern.test(key)),
        `${file}: ${key}`,
      );
    }
  }
  t.ok(count > 30, `${count} names`);
});

t.test("every command that a user has is one that its process sends", async (t) => {
  const sent = (folders: readonly string[]) =>
    folders
      .flatMap((folder) => filesOf(fileURLToPath(new URL(`../../../${folder}`, import.meta.url))))
      .map((file) => readFileSync(file, "utf8").toLowerCase())
      .join("\n");
  const folders: Record<RedisUser["name"], readonly string[]> = {
    gateway: [
      "gateway",
      "lib/keys",
      "lib/redis",
      "node_modules/rate-limiter-flexible/lib/RateLimiterRedis.js",
    ],
    api: ["api", "lib/redis"],
    keys: ["scripts/keys", "lib/keys", "lib/redis", "gateway/limits"],
    faucet: ["faucet", "lib/redis"],
    "faucet-operator": ["faucet", "scripts/faucet", "lib/redis"],
    backup: ["scripts/backup"],
    "faucet-backup": ["scripts/backup"],
  };
  /** What the client sends by itself: at the start of a connection, and to a cluster. */
  const byClient = /^(asking|client\|setname|cluster\|.*|info|ping|readonly|readwrite|select|time|wait)$/;
  for (const { name, commands } of users) {
    const text = sent(folders[name]);
    for (const command of commands) {
      if (byClient.test(command)) continue;
      const [word = ""] = command.split("|");
      t.ok(new RegExp(`call\\('${word}'|\\.${word}\\(|ask\\("${word}"`).test(text), `${name}: ${command}`);
    }
  }
});

function filesOf(path: string): string[] {
  if (path.endsWith(".js")) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("redis-users.ts"))
    .map((file) => `${path}/${file}`);
}

/** Redis's pattern as a regular expression: braces are themselves, a star is anything. */
function regular(pattern: string): RegExp {
  return new RegExp(`^${pattern.replace(/[{}.|+?()[\]^$\\]/g, "\\$&").replaceAll("*", ".*")}$`);
}

function connect(t: Test, url: string): Redis {
  const redis = new Redis(url, {
    retryStrategy: () => null,
    disableClientInfo: true,
    enableReadyCheck: false,
  });
  redis.on("error", () => {});
  t.teardown(() => redis.disconnect());
  return redis;
}

async function answer(redis: Redis, [command = "", ...args]: readonly string[]): Promise<string> {
  try {
    return String(await redis.call(command, ...args));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
