import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readNetworkConfig } from "../../../genesis/config.ts";
import { planNetwork } from "../../../genesis/network-files.ts";
import { createNodeKey } from "../../../genesis/node-key.ts";
import { aclRules, faucetRedisUsers } from "../../../lib/redis/redis-users.ts";
import { readReaderKeys, readWriterKeys } from "../../../scripts/backup/archive/key-files.ts";
import {
  addRevocations,
  lastRevocation,
  pruneRevocations,
  readRevocations,
} from "../../../scripts/backup/archive/revocations.ts";
import { readWal, shipWal } from "../../../scripts/backup/archive/wal-archive.ts";
import { findPostgresTools } from "../../../scripts/backup/parts/postgres-tools.ts";
import { snapshotFacts } from "../../../scripts/backup/parts/redis-snapshot.ts";
import { openKeyStore } from "../../helpers/api-keys.ts";
import { startRedis } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { backupHere } from "./support/backup-here.ts";

/* npm run backup: what is refused, in which words, and that nothing is lost by it. PostgreSQL is in drill.test.ts. */

/** A backup of a Redis with keys and of a network's folder. */
async function taken(t: Test) {
  const redis = await startRedis(t);
  const { admin } = await openKeyStore(t, redis.url);
  await admin.mset("a", "1", "b", "2");
  await admin.set("gone", "soon", "PX", 1);
  const network = `${t.testdirName}-network`;
  t.teardown(() => rmSync(network, { recursive: true, force: true }));
  const { files, manifest } = planNetwork({
    config: readNetworkConfig({ file: "config/network.yaml", env: {} }),
    createKey: createNodeKey,
  });
  for (const { path, content } of files) {
    mkdirSync(join(network, path, ".."), { recursive: true });
    writeFileSync(join(network, path), content);
  }
  const here = await backupHere(t, { BACKUP_REDIS_URL: redis.url, BACKUP_NETWORK_FOLDER: network });
  const { id } = JSON.parse((await here.must("take", "--json")).out);
  const into = (name: string) => join(here.folder, name);
  const restore = (...words: string[]) => here.backup("restore", ...words);
  return {
    ...here,
    redis,
    admin,
    network,
    manifest,
    id: String(id),
    file: (name: string) => join(here.to, String(id), name),
    into,
    restore,
  };
}

t.test("what was taken is restored, and each file is encrypted", async (t) => {
  const { id, network, manifest, must, backup, file, into, to } = await taken(t);
  t.match(await backup("verify"), {
    code: 0,
    out: /keys +whole +\d+ files, the keys of 5 validators\nredis +whole/,
  });
  await must("restore", id, "keys", "--into", into("network"), "--genesis-hash", manifest.genesisHash);
  const names = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();
  t.same(names(into("network")), names(network));
  for (const name of ["validator-3/key", "secrets/postgres-password"]) {
    t.equal(readFileSync(join(into("network"), name), "utf8"), readFileSync(join(network, name), "utf8"));
  }
  const sealed = readFileSync(file("keys.tar.zst.age"));
  t.equal(sealed.subarray(0, 22).toString(), "age-encryption.org/v1\n");
  t.equal(statSync(file("keys.tar.zst.age")).mode & 0o777, 0o600);
  const secret = readFileSync(join(network, "secrets/postgres-password"), "utf8").trim();
  for (const name of readdirSync(join(to, id))) t.notMatch(readFileSync(file(name), "latin1"), secret, name);
});

t.test(
  "a part that was changed, cut off, taken away or put in another's place is refused, and leaves nothing",
  async (t) => {
    const { restore, into, file, id, to, backup } = await taken(t);
    const name = "redis.rdb.zst.age";
    const whole = readFileSync(file(name));
    const refused = async (why: RegExp, asked = id) => {
      t.match(await restore(asked, "redis", "--into", into("out")), { code: 1, err: why });
      t.notOk(existsSync(into("out")));
    };
    const changed = Buffer.from(whole);
    changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1;
    writeFileSync(file(name), changed);
    await refused(/redis\.rdb\.zst\.age: it was changed\. Nothing was restored/);
    t.match(await backup("verify"), {
      code: 1,
      out: /redis +NOT WHOLE .*it was changed/,
      err: /cannot be relied on/,
    });
    writeFileSync(file(name), whole.subarray(0, -1));
    await refused(/it was cut off: \d+ of \d+ bytes/);
    rmSync(file(name));
    await refused(/it is missing/);
    writeFileSync(file(name), readFileSync(file("keys.tar.zst.age")));
    await refused(/it was changed|cut off/);
    writeFileSync(file(name), whole);
    cpSync(join(to, id), join(to, "20990101T000000"), { recursive: true });
    await refused(/is the backup \d+T\d+: give it that name again/, "latest");
  },
);

t.test("a manifest that somebody else wrote is refused, also one that holds the right hashes", async (t) => {
  const { restore, into, file, id, folder, must, backup } = await taken(t);
  const text = readFileSync(file("manifest.json"), "utf8");
  const forged = Buffer.concat([readFileSync(file("redis.rdb.zst.age")), Buffer.from("x")]);
  const sha256 = createHash("sha256").update(forged).digest("hex");
  writeFileSync(file("redis.rdb.zst.age"), forged);
  const manifest = JSON.parse(text);
  const parts = manifest.parts.map((part: object) =>
    "name" in part && part.name === "redis" ? { ...part, sha256, bytes: forged.length } : part,
  );
  writeFileSync(file("manifest.json"), JSON.stringify({ ...manifest, parts }));
  const ask = () => restore(id, "redis", "--into", into("out"));
  t.match(await ask(), { code: 1, err: /it was changed, or signed by somebody else/ });
  rmSync(file("manifest.json.sig"));
  t.match(await ask(), { code: 1, err: /its signature is missing/ });
  writeFileSync(file("manifest.json"), "{}");
  t.match(await backup("list"), { code: 1, err: /another version of Tollgate/ });
  t.notOk(existsSync(into("out")));

  // Another pair of keys can write, and what it writes is not believed.
  await must("init", "--keys", join(folder, "others"));
  rmSync(file("."), { recursive: true });
  await must("take", "--keys", join(folder, "others"));
  t.match(await restore("latest", "redis", "--into", into("out")), {
    code: 1,
    err: /signed by somebody else/,
  });
  // Whose own key is believed still cannot read with another identity.
  cpSync(join(folder, "others/verify-key.pem"), join(folder, "keys/verify-key.pem"));
  t.match(await restore("latest", "redis", "--into", into("out")), {
    code: 1,
    err: /none of these identities can open it/,
  });
  t.notOk(existsSync(into("out")));
});

t.test("nothing is restored over what is there, of another network, or that nobody asked for", async (t) => {
  const { restore, into, id, backup, folder } = await taken(t);
  mkdirSync(into("full"));
  writeFileSync(join(into("full"), "mine"), "kept");
  t.match(await restore(id, "redis", "--into", into("full")), {
    code: 1,
    err: /full is not empty \(mine\)\. Nothing is restored over it/,
  });
  t.same(readdirSync(into("full")), ["mine"]);
  t.match(await restore(id, "keys", "--into", into("x"), "--genesis-hash", `0x${"0".repeat(64)}`), {
    code: 1,
    err: /another network/,
  });
  t.match(await restore(id, "postgres", "--into", into("x")), {
    code: 1,
    err: /has no postgres; it holds keys, redis/,
  });
  t.match(await restore(id, "redi", "--into", into("x")), { code: 2, err: /PART is one of keys, / });
  t.match(await restore(id, "redis"), { code: 2, err: /--into is missing/ });
  t.match(await restore(id, "redis", "--into", into("x"), "--until", "latest"), {
    code: 2,
    err: /--until is for postgres/,
  });
  t.match(await restore("20200101T000000", "redis", "--into", into("x")), {
    code: 1,
    err: /There is no backup/,
  });
  t.match(await backup("init"), { code: 1, err: /identity\.txt is there already/ });
  t.match(await backup("take", "--only", "postgres"), {
    code: 2,
    err: /postgres: postgres of the configuration of backups is empty/,
  });
  t.match(await backup("take", "--only", "redys"), {
    code: 2,
    err: /names out of keys, redis-faucet, redis, postgres/,
  });
  t.match(await backup("take", "--keys", join(folder, "none")), {
    code: 1,
    err: /recipients\.txt: it cannot be read/,
  });
  t.notOk(existsSync(into("x")));
});

t.test("a backup that fails half way is none, and those before stay", async (t) => {
  const { backup, redis, to, id } = await taken(t);
  await redis.kill();
  t.match(await backup("take"), { code: 1, err: /Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be reached/ });
  t.same(readdirSync(to), [id]);
});

t.test("a Redis that asks for a password is asked with it, and says so where it is wrong", async (t) => {
  const { admin, redis } = await taken(t);
  // Least rights: whoever takes the backup can read no key by any other way.
  const [rules = ""] = faucetRedisUsers.filter(({ name }) => name === "faucet-backup").map(aclRules);
  await admin.call("ACL", "SETUSER", "backup", "on", ">secret", ...rules.split(" "));
  await admin.call("ACL", "SETUSER", "default", ">another");
  const as = (user: string) => redis.url.replace("redis://", `redis://${user}@`);
  const take = async (url: string) => {
    const here = await backupHere(t, { BACKUP_REDIS_URL: url });
    return here.backup("take", "--json");
  };
  t.match(await take(redis.url), { code: 1, err: /refuses: NOAUTH.*needs a user who may SYNC/ });
  t.match(await take(as("backup:wrong")), { code: 1, err: /refuses: WRONGPASS/ });
  t.match(JSON.parse((await take(as("backup:secret"))).out), { parts: [{ name: "redis" }] });
});

t.test("the newest are kept, and what is being taken is none of them", async (t) => {
  const { must, backup, to, id } = await taken(t);
  for (const name of ["20200101T000000", "20200102T000000"])
    cpSync(join(to, id), join(to, name), { recursive: true });
  mkdirSync(join(to, ".taking-20200103T000000"));
  mkdirSync(join(to, ".taking-29990101T000000"));
  t.match(await must("take", "--keep", "2"), {
    err: /20200101T000000 was removed\.\n20200102T000000 was removed/,
  });
  t.match(
    readdirSync(to),
    [".taking-29990101T000000", id, /^\d{8}T\d{6}$/],
    "an old left-over goes, somebody else's stays",
  );
  t.match(await backup("take", "--keep", "0"), {
    code: 2,
    err: /a whole number from 1 to 1000 was expected/,
  });
});

t.test("copies of one part push no whole backup out, and latest is the newest with the part", async (t) => {
  const { must, to, id, into, restore } = await taken(t);
  const takeKeys = async (...more: string[]) =>
    JSON.parse((await must("take", "--only", "keys", "--json", ...more)).out);
  const first = await takeKeys();
  const second = await takeKeys("--keep", "1");
  t.same(second.removed, [first.id]);
  t.same(readdirSync(to), [id, second.id]);
  t.match(await restore("latest", "redis", "--into", into("redis")), { code: 0 });
  t.match(await restore("latest", "postgres", "--into", into("x")), {
    code: 1,
    err: /There is no backup that has postgres in/,
  });
});

const writeSegment = (file: string, { system = 7n, fill = 1 }: { system?: bigint; fill?: number } = {}) => {
  const bytes = Buffer.alloc(8192, fill);
  bytes.writeBigUInt64LE(system, 24);
  writeFileSync(file, bytes);
};

t.test("PostgreSQL's log: each segment once, none missing, none of another content", async (t) => {
  const { keys: keyFolder, to, folder } = await backupHere(t);
  const [writer, reader] = await Promise.all([readWriterKeys(keyFolder), readReaderKeys(keyFolder)]);
  const spool = join(folder, "spool");
  mkdirSync(spool);
  const name = (position: number, timeline = 1) =>
    `${timeline.toString(16).padStart(8, "0")}00000000${position.toString(16).padStart(8, "0")}`.toUpperCase();
  const put = (position: number, minute: number, more: { fill?: number; timeline?: number } = {}) => {
    const file = join(spool, name(position, more.timeline));
    writeSegment(file, more);
    const at = new Date(Date.UTC(2027, 0, 1, 12, minute));
    utimesSync(file, at, at);
  };
  const ship = () => shipWal({ spool, to, keys: writer });
  const until = (minute: number) => new Date(Date.UTC(2027, 0, 1, 12, minute));
  let reads = 0;
  const read = async (at: Date | undefined, first = 1) => {
    reads += 1;
    const out = join(folder, `out-${reads}`);
    mkdirSync(out);
    await readWal({
      from: to,
      systemIdentifier: "7",
      firstSegment: name(first),
      until: at,
      keys: reader,
      folder: out,
    });
    return readdirSync(out).sort();
  };
  writeFileSync(join(spool, ".half.new"), "x");
  t.same(await ship(), []);
  for (const position of [1, 2, 3, 4]) put(position, position);
  writeFileSync(join(spool, "00000002.history"), "1\t0/3000000\tno recovery target specified\n");
  t.equal((await ship()).length, 5);
  t.same(readdirSync(spool), [".half.new"], "the spool is empty, but for what is being written");
  t.same(
    await read(undefined),
    ["00000002.history", ...[1, 2, 3, 4].map((position) => name(position))].sort(),
  );
  t.same(
    await read(until(2), 2),
    [name(2), "00000002.history"],
    "up to the first that was finished behind it",
  );
  t.same(await read(undefined, 4), ["00000002.history", name(4)].sort());
  await t.rejects(read(until(30)), /The archived log ends at 20/);

  put(2, 9);
  t.equal((await ship()).length, 1, "once more after a crash: the same");
  put(2, 9, { fill: 2 });
  await t.rejects(ship(), /is archived with another content/);
  t.ok(existsSync(join(spool, name(2))), "it is kept");
  rmSync(join(spool, name(2)));

  put(5, 40, { timeline: 2 });
  await ship();
  t.equal((await read(undefined)).length, 6, "on the next timeline");
  rmSync(join(to, "wal/7", `${name(3)}.json.sig`));
  await t.rejects(read(undefined), /has a gap: segment …0000000000000003 is missing/);
  put(3, 3);
  await ship();
  const sealed = join(to, "wal/7", `${name(3)}.zst.age`);
  writeFileSync(sealed, readFileSync(join(to, "wal/7", `${name(2)}.zst.age`)));
  await t.rejects(read(undefined), /it was changed|cut off/);
});

t.test(
  "revoked keys of merchants are only added to, signed, and removed when every backup has them",
  async (t) => {
    const { to, keys } = await backupHere(t);
    const [writer, { verifyKey }] = [await readWriterKeys(keys), await readReaderKeys(keys)];
    const place = { to, systemIdentifier: "7" };
    const key = (second: number) => ({
      id: randomUUID(),
      revokedAt: new Date(Date.UTC(2027, 0, 1, 0, 0, second, 250)).toISOString(),
    });
    const [first, second, third] = [key(1), key(2), key(3)];
    const read = () => readRevocations({ ...place, verifyKey });
    t.same(await read(), []);
    t.equal(await lastRevocation(place), undefined);
    await addRevocations({ ...place, revoked: [], keys: writer });
    t.notOk(existsSync(join(to, "revoked")), "nothing to say");
    await addRevocations({ ...place, revoked: [first, second], keys: writer });
    // A server of an earlier state, or another process, tells of some again.
    await addRevocations({ ...place, revoked: [first], keys: writer });
    await addRevocations({ ...place, revoked: [third], keys: writer });
    t.same(await read(), [first, second, third]);
    t.equal((await lastRevocation(place))?.toISOString(), third.revokedAt);
    t.same(await readRevocations({ ...place, systemIdentifier: "8", verifyKey }), [], "of another server");
    await pruneRevocations({ ...place, before: new Date(second.revokedAt) });
    t.same(await read(), [first, second, third], "the file that ends with the second is of that time");
    await pruneRevocations({ ...place, before: new Date(third.revokedAt) });
    t.same(await read(), [third]);

    const folder = join(to, "revoked/7");
    const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".json"));
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replace(third.id, first.id));
    await t.rejects(read(), /it was changed, or signed by somebody else/);
    writeFileSync(join(folder, name), text);
    rmSync(join(folder, `${name}.sig`));
    t.same(await read(), [], "one that was not finished is none");
  },
);

t.test("PostgreSQL's programs have to be of the server's version", async (t) => {
  const folder = testFolder(t, {
    15: { bin: { pg_basebackup: "#!/bin/sh\necho 'pg_basebackup (PostgreSQL) 15.4'\n" } },
  });
  const bin = join(folder, "15/bin");
  chmodSync(join(bin, "pg_basebackup"), 0o755);
  const find = (version: number, more: { folder?: string; path?: string } = {}) =>
    findPostgresTools({ version, folder: "", path: "", debian: folder, ...more });
  t.equal((await find(15)).program("pg_waldump"), join(bin, "pg_waldump"));
  t.equal((await find(15, { folder: bin })).version, 15);
  await t.rejects(find(18), /programs of PostgreSQL 18 are missing.*there is .*15\/bin[\s\S]*postgresql-18/);
  await t.rejects(find(18, { folder: bin }), /has those of 15[\s\S]*POSTGRES_TOOLS=/);
});

t.test("what is no snapshot of Redis is not taken for one", async (t) => {
  for (const text of ["", "REDIS", "REDIS0011", "ERR no such thing", "REDIS0011\u00fa\u00ff"])
    t.equal(snapshotFacts(Buffer.from(text, "latin1")), undefined, text);
  const head = Buffer.concat([Buffer.from("REDIS0011"), Buffer.from([0xfe, 0, 0xfb, 0x41, 0x02, 3])]);
  t.same(snapshotFacts(head), { server: "unknown", keys: 258 });
});
