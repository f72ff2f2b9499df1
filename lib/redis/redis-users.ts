import { apiRequestsKey, sessionNonceKey } from "./keys/api.ts";
import { keyChangesChannel, keyLostKey, keyRecordKey } from "./keys/api-keys.ts";
import { keysDataKey, keysMigratingKey } from "./keys/data.ts";
import { faucetAllowlistKey, faucetClaimKey, faucetPausedKey } from "./keys/faucet.ts";
import {
  deadlyCallsKey,
  failuresKeyPrefix,
  filterRowKey,
  keyBudgetKey,
  limitsProbeKey,
  pendingStreamKey,
  teamBudgetKey,
} from "./keys/gateway.ts";
import { soldKeyKey } from "./keys/svc-dev.ts";

/*
 * Who may do what in Redis: one ACL user a process, with the keys and commands that it needs and no others
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/). Patterns are made by the functions that make
 * the keys. `npm run docs` writes docker/redis/users/ from this table. Every Redis of the tests has these users, and the processes
 * under test connect as them.
 */

export type RedisUserName =
  | "gateway"
  | "api"
  | "keys"
  | "faucet"
  | "faucet-operator"
  | "backup"
  | "faucet-backup";
export type RedisUser = {
  name: RedisUserName;
  /** What connects as this user. */
  who: string;
  /** Patterns of keys that it reads and writes. */
  writes: readonly string[];
  /** Patterns of keys that it only reads. A script that is given one of them has to be of `EVALSHA_RO`. */
  reads: readonly string[];
  channels: readonly string[];
  /** In lower case, a subcommand behind a bar. */
  commands: readonly string[];
};

type Profile = "development" | "production";

/** Connecting, naming the connection, waiting until Redis has loaded its file, knowing a cluster's nodes. */
const connecting = [
  ...["client|setname", "info", "ping", "select"],
  ...[
    "asking",
    "cluster|info",
    "cluster|nodes",
    "cluster|shards",
    "cluster|slots",
    "readonly",
    "readwrite",
    "wait",
  ],
];
const scripts = ["eval", "evalsha", "time"];

const anyKey = keyRecordKey("").replace("record:", "*");
const anyOfFaucet = faucetClaimKey("").replace("claim:", "*");
const budgets = [keyBudgetKey({ team: "*", keyId: "*" }), teamBudgetKey("*")];
/** What makes and changes API keys and teams, and tells gateways of it. */
const keyAdministration = [
  ...scripts,
  ...[
    "del",
    "exists",
    "get",
    "hdel",
    "hexists",
    "hget",
    "hgetall",
    "hlen",
    "hmget",
    "hscan",
    "hset",
    "hsetnx",
  ],
  ...["incr", "mget", "publish", "set"],
];

/** A snapshot by replication is all of the data: who takes it needs no key, and can write none. A cluster is asked who has which slots. */
const takingSnapshots = {
  ...{ writes: [], reads: [], channels: [] },
  commands: ["cluster|nodes", "replconf", "sync"],
} as const;

/** The users of the Redis that gateways, the API and the command line of the keys share. */
export function sharedRedisUsers(profile: Profile): readonly RedisUser[] {
  // In development a gateway puts the keys of its configuration into Redis.
  const seeds = profile === "development";
  return [
    {
      name: "gateway",
      who: "the gateway: limits, filters, traces; it reads API keys",
      writes: [
        ...(seeds ? [anyKey] : [keyLostKey, keysDataKey, keysMigratingKey]),
        ...budgets,
        ...[limitsProbeKey("*"), `${failuresKeyPrefix}:*`, filterRowKey({ keyId: "*", id: "*" })],
        ...[pendingStreamKey, deadlyCallsKey].map((key) => key.replace(/(?<=}:).*/, "*")),
      ],
      reads: seeds ? [] : [anyKey],
      channels: [keyChangesChannel],
      commands: unique([
        ...connecting,
        ...scripts,
        ...(seeds ? keyAdministration : []),
        ...[
          "del",
          "eval_ro",
          "evalsha_ro",
          "exists",
          "expire",
          "get",
          "hdel",
          "hexists",
          "hget",
          "hgetall",
          "hlen",
          "hmget",
        ],
        ...["hscan", "hset", "hstrlen", "incr", "incrby", "mget", "pexpire", "pttl", "set", "subscribe"],
        ...["xadd", "xrange", "xrevrange", "zadd", "zcard", "zrange", "zrangebyscore", "zrem"],
        ...["zremrangebyrank", "zremrangebyscore", "zscore"],
      ]),
    },
    {
      name: "api",
      who: "the public API: its limits, nonces to sign in with, keys for sale",
      writes: [apiRequestsKey("*"), sessionNonceKey("*"), soldKeyKey("*")],
      reads: [],
      channels: [],
      commands: unique([
        ...connecting,
        ...scripts,
        "decrby",
        "get",
        "getdel",
        "incrby",
        "pexpire",
        "pttl",
        "set",
      ]),
    },
    {
      name: "keys",
      who: "npm run keys, and the service api-key: API keys and teams, and how much of a key is used",
      writes: [anyKey],
      reads: budgets,
      channels: [keyChangesChannel],
      commands: unique([...connecting, ...keyAdministration, "eval_ro", "evalsha_ro"]),
    },
    { name: "backup", who: "the backup: a snapshot of all of it, as a replica gets one", ...takingSnapshots },
  ];
}

/** The users of the faucet's Redis. */
export const faucetRedisUsers: readonly RedisUser[] = [
  {
    name: "faucet",
    who: "the faucet",
    writes: [anyOfFaucet],
    reads: [],
    channels: [],
    commands: unique([
      ...connecting,
      ...scripts,
      // Whether each write waits for the disk can be asked in no other way.
      "config|get",
      ...["decr", "del", "exists", "get", "hdel", "hget", "hgetall", "hlen", "hmget", "hset", "incr"],
      ...["llen", "lpush", "lrange", "lrem", "persist", "pexpire", "pttl", "rpush", "set"],
      ...[
        "zadd",
        "zcard",
        "zcount",
        "zrange",
        "zrangebyscore",
        "zrem",
        "zremrangebyrank",
        "zremrangebyscore",
      ],
    ]),
  },
  {
    name: "faucet-operator",
    who: "npm run faucet: looks at the faucet, pauses it, copies the allowlist",
    writes: [faucetPausedKey, `${faucetAllowlistKey}*`],
    reads: [anyOfFaucet],
    channels: [],
    commands: unique([
      ...connecting,
      ...scripts,
      ...["del", "exists", "get", "hget", "hgetall", "hlen", "hmget", "hset", "llen", "lrange", "set"],
      ...["zcard", "zcount", "zrange", "zrangebyscore"],
    ]),
  },
  {
    name: "faucet-backup",
    who: "the backup: a snapshot of all of it, as a replica gets one",
    ...takingSnapshots,
  },
];

/** The rules of a user, without a password and without being switched on: for `ACL SETUSER` or behind `user NAME` in a file. */
export function aclRules({ writes, reads, channels, commands }: Omit<RedisUser, "name" | "who">): string {
  return [
    "resetkeys",
    ...writes.map((pattern) => `~${pattern}`),
    ...reads.map((pattern) => `%R~${pattern}`),
    "resetchannels",
    ...channels.map((channel) => `&${channel}`),
    "-@all",
    ...commands.map((command) => `+${command}`),
  ].join(" ");
}

/** A file of docker/redis/users/: `name rules` a line. */
export function aclFile(users: readonly RedisUser[]): string {
  const lines = users.map((user) => `# ${user.who}\n${user.name} ${aclRules(user)}`);
  return `# Made by npm run docs from lib/redis/redis-users.ts: the rights of each process; start.sh adds the passwords.\n${lines.join("\n")}\n`;
}

function unique(commands: readonly string[]): readonly string[] {
  return [...new Set(commands)].sort();
}
