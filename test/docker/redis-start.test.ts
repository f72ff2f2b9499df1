import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { addRedisUsers, redisUserSecrets } from "../../genesis/redis-users.ts";
import { keyRecordKey } from "../../lib/redis/keys/api-keys.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { runChild } from "../../scripts/processes/run-child.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

/* docker/redis/start.sh starts a real Redis with the secrets of a network, without a container around it. */

const script = fileURLToPath(new URL("../../docker/redis/start.sh", import.meta.url));
const hasServer = (await findProgram({ names: ["redis-server"], path: process.env["PATH"] })) !== undefined;
const record = keyRecordKey("00".repeat(32));

/** Runs start.sh; `as` gives what a command as a user of the network's secrets is answered. */
async function startServer(t: Test, { users, lacks = [] }: { users: string; lacks?: readonly string[] }) {
  const folder = testFolder(t, { secrets: {}, data: {} });
  const secrets = join(folder, "secrets");
  const made = redisUserSecrets().filter(({ path }) => !lacks.some((name) => path.endsWith(name)));
  for (const { path, content } of made) writeFileSync(join(folder, path), content);
  writeFileSync(join(secrets, "redis-url"), "redis://:of-the-operator@redis:6379\n");
  const port = await reservePort();
  const config = join(folder, "redis.conf");
  writeFileSync(config, `port ${port}\nbind 127.0.0.1\ndir ${join(folder, "data")}\n`);
  const env = { PATH: process.env["PATH"], REDIS_SECRETS: secrets, REDIS_USERS: users };
  const child = await runChild({
    name: "redis",
    program: "/bin/sh",
    args: [script, config],
    env,
    onLine: () => {},
  });
  if ("failed" in child) throw new Error(child.failed);
  t.teardown(() => child.stop({ withinMs: 5000 }));
  const as = async (name: string, ...[command = "", ...args]: string[]): Promise<string> => {
    const secret = made.find(({ path }) => path.endsWith(`-${name}`))?.content;
    const { username, password } = new URL(secret ?? "redis://:of-the-operator@redis");
    const redis = new Redis({
      ...{ port, host: "127.0.0.1", username, password },
      ...{ retryStrategy: () => null, disableClientInfo: true, enableReadyCheck: false },
    });
    redis.on("error", () => {});
    try {
      return String(await redis.call(command, ...args));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      redis.disconnect();
    }
  };
  await waitFor("Redis answers", async () => {
    if (!child.running()) throw new Error(await child.obituary());
    return (await as("operator", "PING")) === "PONG";
  });
  return { as, port, child };
}

t.test("Redis of the compose file", { skip: hasServer ? false : "there is no redis-server" }, async (t) => {
  t.test("each process has its own rights, and the operator's password has all", async (t) => {
    const { as } = await startServer(t, { users: "production" });
    t.equal(await as("keys", "HSET", record, "id", "k1"), "1");
    t.match(await as("gateway", "HSET", record, "id", "k2"), /NOPERM/);
    t.equal(await as("gateway", "HGET", record, "id"), "k1");
    t.match(await as("api", "HGET", record, "id"), /NOPERM/);
    t.match(await as("faucet", "PING"), /WRONGPASS/, "it is no user of this server");
    t.equal(await as("operator", "FLUSHALL"), "OK");
  });

  t.test("a gateway of the development profile may write its keys", async (t) => {
    const { as } = await startServer(t, { users: "development" });
    t.equal(await as("gateway", "HSET", record, "id", "k1"), "1");
  });

  t.test("the faucet's server knows the faucet, and a user without a secret is none", async (t) => {
    const { as, port } = await startServer(t, { users: "faucet", lacks: ["api"] });
    t.equal(await as("faucet", "SET", "{faucet}:paused", "1"), "OK");
    t.match(await as("faucet", "GET", record), /NOPERM/);
    const anybody = new Redis(port, {
      retryStrategy: () => null,
      disableClientInfo: true,
      enableReadyCheck: false,
    });
    anybody.on("error", () => {});
    await t.rejects(anybody.ping(), { message: /NOAUTH/ });
    anybody.disconnect();
  });

  t.test("a name of rights that there is not ends it with a sentence", async (t) => {
    const folder = testFolder(t, { "redis-url": "redis://:a@redis:6379\n" });
    const env = { PATH: process.env["PATH"], REDIS_SECRETS: folder, REDIS_USERS: "nobody" };
    const { code, lines } = await runCommand(t, { program: "/bin/sh", args: [script], env });
    t.equal(code, 1);
    t.match(lines.join("\n"), /REDIS_USERS is production, development or faucet/);
  });
});

t.test(
  "a network of an older version gets the users that it lacks, and keeps those that it has",
  async (t) => {
    const folder = testFolder(t, {
      secrets: { "redis-url": "redis://:a@redis:6379\n", "redis-user-api": "redis://api:mine@redis:6379\n" },
    });
    await addRedisUsers(folder);
    const read = async (name: string) =>
      (await runCommand(t, { program: "/bin/cat", args: [join(folder, "secrets", name)] })).lines.join("");
    t.match(await read("redis-user-gateway"), /^redis:\/\/gateway:[\w-]{32}@redis:6379$/);
    t.equal(await read("redis-user-api"), "redis://api:mine@redis:6379");
  },
);
