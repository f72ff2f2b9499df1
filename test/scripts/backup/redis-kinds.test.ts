import t, { type Test } from "tap";
import { aclRules, faucetRedisUsers, sharedRedisUsers } from "../../../lib/redis/redis-users.ts";
import { readMasters } from "../../../scripts/backup/parts/cluster-snapshot.ts";
import { startOwnRedis } from "../../../scripts/processes/own-redis.ts";
import { startRedisCluster } from "../../../scripts/processes/redis-cluster.ts";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { writeCertificate } from "../../helpers/certificate.ts";
import { connectAdmin, onlySingle } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { connectTo } from "../../redis/failover-rig.ts";
import { backupHere } from "./support/backup-here.ts";

/* npm run backup of a Redis with TLS, and of a cluster, as the user of least rights that docker/redis/users/ has. */

const password = "a-password";
const users = [...sharedRedisUsers("production"), ...faucetRedisUsers]
  .filter(({ name }) => name.endsWith("backup"))
  .map((user) => `${user.name} on >${password} ${aclRules(user)}`);

async function take(t: Test, url: string) {
  const here = await backupHere(t, { BACKUP_REDIS_URL: url });
  return { here, taken: await here.backup("take", "--json") };
}

t.test("over TLS, with the authority that the address names", { skip: onlySingle }, async (t) => {
  const folder = testFolder(t);
  const { certFile, keyFile } = await writeCertificate(folder);
  const port = await reservePort();
  const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile];
  const more = ["--tls-port", String(port), ...files, "--tls-auth-clients", "no"];
  const redis = await startOwnRedis(t, { users, more });
  const admin = await connectAdmin(t, redis.url);
  await admin.mset("a", "1", "b", "2");
  const url = `rediss://backup:${password}@127.0.0.1:${port}`;
  await t.test("is taken", async (t) => {
    const { here, taken } = await take(t, `${url}?ssl_ca_certs=${certFile}`);
    t.match(taken, { code: 0 }, taken.err);
    t.match(await here.backup("verify"), { code: 0, out: /redis +whole +2 keys/ });
  });
  await t.test("is refused of a server that nobody vouches for", async (t) => {
    t.match((await take(t, url)).taken, { code: 1, err: /rediss:\/\/127\.0\.0\.1:\d+ cannot be reached \(/ });
  });
});

t.test("all masters of a cluster, as one Redis", { skip: onlySingle }, async (t) => {
  const cluster = await startRedisCluster(t, { users });
  const admin = await connectTo(t, cluster.url);
  const names = Array.from({ length: 300 }, (_, number) => `key-${number}`);
  for (const name of names) await admin.set(name, `value of ${name}`);
  const url = cluster.url.replace("://", `://backup:${password}@`);
  const { here, taken } = await take(t, url);
  t.match(taken, { code: 0 }, taken.err);
  t.match(JSON.parse(taken.out), { parts: [{ name: "redis", facts: { keys: names.length } }] });
  // A real server loads all of them out of what is one snapshot now.
  const verified = await here.backup("verify");
  t.match(verified, { code: 0, out: /redis +whole +300 keys/ }, verified.out);

  t.match((await take(t, url.replace("backup:", "backup:x"))).taken, { code: 1, err: /WRONGPASS/ });
  const [first] = cluster.nodes;
  await first?.admin.call("cluster", "setslot", "0", "migrating", String(cluster.nodes[1]?.id));
  const moving = await take(t, url);
  t.match(moving.taken, { code: 1, err: /slots are being moved\. Take the backup when they are/ });
});

t.test("a cluster of which a part has no master is refused", async (t) => {
  const line = (flags: string, slots: string) =>
    `${"0".repeat(40)} 192.0.2.1:6379@16379,name ${flags} - 0 0 1 connected ${slots}`.trim();
  const read = (...lines: string[]) => readMasters(lines.join("\n"), "Redis");
  t.same(read(line("master", "0-8191 16383"), line("slave", ""), line("myself,master", "8192-16382")), [
    { host: "192.0.2.1", port: 6379, slots: "0-8191 16383" },
    { host: "192.0.2.1", port: 6379, slots: "8192-16382" },
  ]);
  t.throws(() => read(line("master", "0-8191")), /only 8192 of 16384 slots have a master/);
  t.throws(() => read(""), /only 0 of 16384/);
});
