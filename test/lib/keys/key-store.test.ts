import { randomBytes } from "node:crypto";
import t from "tap";
import { checkApiKey, hashApiKey } from "../../../lib/keys/api-key.ts";
import { CorruptKeyRecordError } from "../../../lib/keys/key-record.ts";
import { keyRefusal } from "../../../lib/keys/key-refusal.ts";
import { createKeyStore, keysMax } from "../../../lib/keys/key-store.ts";
import { keyIdsKey, keyRecordKey, keyTeamsKey, keyVersionKey } from "../../../lib/redis/keys/api-keys.ts";
import { mastersOf, monitorAll } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { acmeKey, dump, mustCreate, mustFind, startKeyRig } from "./key-store-rig.ts";

const hourMs = 3_600_000;

t.test("a key is found by the SHA-256 of its secret, with its team's settings", async (t) => {
  const { store } = await startKeyRig(t);
  await store.setTeam({
    name: "acme",
    limitPerMinute: 300,
    capPerMinute: 900,
    origins: ["https://a.example"],
  });
  const { secret, key } = await mustCreate(store, {
    permissions: ["rpc", "faucet"],
    limitPerMinute: 50,
    origins: ["https://b.example", "http://localhost:3000"],
    qa: true,
    expiresAtMs: (await store.nowMs()) + hourMs,
  });
  t.equal(checkApiKey(secret), "valid");
  t.match(secret, /^tg_live_/);
  const { expiresInMs = 0, teamSettings, ...record } = await mustFind(store, hashApiKey(secret));
  t.strictSame(record, key);
  t.strictSame(key, {
    id: key.id,
    hash: hashApiKey(secret),
    team: "acme",
    label: "acme staging",
    permissions: ["rpc", "faucet"],
    limitPerMinute: 50,
    origins: ["https://b.example", "http://localhost:3000"],
    qa: true,
    profile: "production",
    createdAtMs: key.createdAtMs,
    expiresAtMs: key.expiresAtMs,
  });
  t.strictSame(teamSettings, {
    name: "acme",
    limitPerMinute: 300,
    capPerMinute: 900,
    origins: ["https://a.example"],
  });
  t.ok(expiresInMs > hourMs - 5_000 && expiresInMs <= hourMs, `${expiresInMs} ms`);
  t.strictSame(await store.show(key.id), key);
});

t.test("a hash or id that nobody has is not found", async (t) => {
  const { store } = await startKeyRig(t);
  t.equal(await store.find(hashApiKey("nobody's")), undefined);
  t.equal(await store.show("k_000000000000"), undefined);
  t.equal(await store.revoke("k_000000000000"), "unknown");
  t.strictSame(await store.rotate({ id: "k_000000000000", overlapMs: 0 }), { outcome: "unknown" });
});

t.test("a look-up is one round trip", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  await store.find(key.hash);
  const sent: string[] = [];
  for (const node of mastersOf(redis)) {
    const send = node.sendCommand.bind(node);
    node.sendCommand = (command, stream) => {
      sent.push(command.name);
      return send(command, stream);
    };
  }
  await store.find(key.hash);
  t.strictSame(sent, ["evalsha_ro"]);
});

t.test("a Redis that has forgotten the scripts is given them again", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  for (const node of mastersOf(redis)) await node.script("FLUSH");
  t.match(await store.find(key.hash), { id: key.id });
  for (const node of mastersOf(redis)) await node.script("FLUSH");
  t.equal(await store.revoke(key.id), "revoked");
});

t.test("the secret never reaches Redis, not in any key, value, or message", async (t) => {
  const { store, redis, connect } = await startKeyRig(t);
  let commands = "";
  await monitorAll(t, await connect(), (args) => {
    commands += `${args.join(" ")}\n`;
  });
  const created = await mustCreate(store);
  const rotated = await store.rotate({ id: created.key.id, overlapMs: hourMs });
  if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
  await store.seed({
    keys: [{ ...acmeKey, secret: "a-word-of-a-developer" }],
    profile: "development",
  });
  await store.revoke(created.key.id);
  await redis.ping("the end");
  await waitFor("the last command is seen", () => commands.includes("the end"));
  const stored = await dump(redis);
  t.match(stored, created.key.hash, "the record is there");
  t.match(commands, created.key.hash, "commands are seen");
  for (const secret of [created.secret, rotated.secret, "a-word-of-a-developer"]) {
    // Not even the part behind the prefix.
    for (const text of [secret, secret.slice(8)]) {
      t.notOk(stored.includes(text), "not in Redis");
      t.notOk(commands.includes(text), "not on the way to Redis");
    }
  }
});

t.test("a key whose hash or id exists already changes nothing", async (t) => {
  let fixed: Uint8Array | undefined;
  const { store, redis } = await startKeyRig(t, { randomBytes: (size) => fixed ?? randomBytes(size) });
  fixed = randomBytes(32);
  await mustCreate(store);
  const before = await dump(redis);
  t.strictSame(await store.create({ ...acmeKey, label: "other", profile: "production" }), {
    outcome: "duplicateHash",
  });
  t.equal(await dump(redis), before);

  // The same id with another secret: the id's bytes come second.
  const idBytes = fixed;
  let calls = 0;
  const clash = createKeyStore({ redis, randomBytes: () => (++calls === 1 ? randomBytes(32) : idBytes) });
  t.strictSame(await clash.create({ ...acmeKey, profile: "production" }), { outcome: "duplicateId" });
  t.equal(await dump(redis), before);
});

t.test("record and index are made and counted in one step", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const before = Number(await redis.get(keyVersionKey));
  const created = await Promise.all(Array.from({ length: 20 }, () => mustCreate(store)));
  t.strictSame(
    await redis.hgetall(keyIdsKey),
    Object.fromEntries(created.map(({ key }) => [key.id, key.hash])),
  );
  t.equal(Number(await redis.get(keyVersionKey)) - before, 20);
  t.equal((await store.list()).keys.length, 20);
});

t.test("a key of a team that is not there is refused and changes nothing", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const before = await dump(redis);
  t.strictSame(await store.create({ ...acmeKey, team: "acne", profile: "production" }), {
    outcome: "unknownTeam",
  });
  t.equal(await dump(redis), before);
});

t.test("there are never more records than may be", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const filled = Array.from({ length: keysMax - 2 }, (_, index) => [`k_filler${index}`, key.hash]);
  await redis.hset(keyIdsKey, Object.fromEntries(filled));
  await mustCreate(store);
  t.strictSame(await store.create({ ...acmeKey, profile: "production" }), { outcome: "tooMany" });
  t.strictSame(await store.rotate({ id: key.id, overlapMs: hourMs }), { outcome: "tooMany" });
  t.equal(await redis.hlen(keyIdsKey), keysMax);
  t.notOk("rotatedTo" in ((await store.show(key.id)) ?? {}));
});

t.test("settings that no key can have are refused before Redis is asked", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const before = await dump(redis);
  const wrong: Partial<Parameters<typeof store.create>[0]>[] = [
    { team: "a}b" },
    { team: "" },
    { label: "x".repeat(121) },
    { label: "two\nlines" },
    { permissions: [] },
    { permissions: ["rpc", "rpc"] },
    { limitPerMinute: 0 },
    { limitPerMinute: 1.5 },
    { limitPerMinute: 1e12 },
    { origins: [] },
    { origins: ["https://a.example/path"] },
    { origins: ["https://a.example,https://b.example"] },
    { origins: ["*"] },
    { origins: ["HTTPS://A.example"] },
    { expiresAtMs: Number.NaN },
    { expiresAtMs: -1 },
  ];
  for (const settings of wrong) {
    await t.rejects(
      store.create({ ...acmeKey, profile: "production", ...settings }),
      { name: "ZodError" },
      JSON.stringify(settings),
    );
  }
  t.equal(await dump(redis), before);
});

t.test("a revoked key is found as revoked, for good; a second time keeps the first time", async (t) => {
  let nowMs = 1_000_000;
  const { store } = await startKeyRig(t, { now: () => nowMs });
  const { key } = await mustCreate(store);
  const other = await mustCreate(store);
  nowMs += 5;
  t.equal(await store.revoke(key.id), "revoked");
  nowMs += 5;
  t.equal(await store.revoke(key.id), "alreadyRevoked");
  t.match(await store.find(key.hash), { id: key.id, revokedAtMs: 1_000_005 });
  t.equal((await store.find(other.key.hash))?.revokedAtMs, undefined);
});

t.test("rotation: both secrets are good during the overlap, then the new one alone", async (t) => {
  let nowMs = 1_700_000_000_000;
  const { store } = await startKeyRig(t, { now: () => nowMs });
  const old = await mustCreate(store, {
    permissions: ["rpc", "explorer"],
    limitPerMinute: 7,
    origins: ["https://a.example"],
  });
  nowMs += 1_000;
  const rotated = await store.rotate({ id: old.key.id, overlapMs: 24 * hourMs });
  if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
  t.not(rotated.secret, old.secret);
  t.strictSame(rotated.key, {
    ...old.key,
    id: rotated.key.id,
    hash: hashApiKey(rotated.secret),
    createdAtMs: nowMs,
    rotatedFrom: old.key.id,
  });
  t.strictSame(rotated.previous, {
    ...old.key,
    expiresAtMs: nowMs + 24 * hourMs,
    rotatedTo: rotated.key.id,
  });
  const refusals = async () =>
    Promise.all(
      [old.secret, rotated.secret].map(async (secret) => {
        const key = await store.find(hashApiKey(secret));
        return key === undefined ? "unknown" : keyRefusal({ key, ageMs: 0, profile: "production" });
      }),
    );
  t.strictSame(await refusals(), [undefined, undefined]);
  nowMs += 24 * hourMs - 1;
  t.strictSame(await refusals(), [undefined, undefined]);
  nowMs += 1;
  t.strictSame(await refusals(), ["api_key_expired", undefined]);
});

t.test(
  "an overlap never makes a key live longer; the new key keeps the old one's expiry or has its own",
  async (t) => {
    const nowMs = 1_700_000_000_000;
    const { store } = await startKeyRig(t, { now: () => nowMs });
    const { key } = await mustCreate(store, { expiresAtMs: nowMs + hourMs });
    const first = await store.rotate({ id: key.id, overlapMs: 24 * hourMs });
    t.match(first, { previous: { expiresAtMs: nowMs + hourMs }, key: { expiresAtMs: nowMs + hourMs } });
    const second = await mustCreate(store, { expiresAtMs: nowMs + hourMs });
    t.match(await store.rotate({ id: second.key.id, overlapMs: 0, expiresAtMs: nowMs + 9 * hourMs }), {
      previous: { expiresAtMs: nowMs },
      key: { expiresAtMs: nowMs + 9 * hourMs },
    });
  },
);

t.test("a key that is rotated, revoked or expired cannot be rotated, and nothing changes", async (t) => {
  let nowMs = 1_700_000_000_000;
  const { store, redis } = await startKeyRig(t, { now: () => nowMs });
  const [rotated, revoked, expired] = [
    await mustCreate(store),
    await mustCreate(store),
    await mustCreate(store, { expiresAtMs: nowMs + 10 }),
  ];
  const first = await store.rotate({ id: rotated.key.id, overlapMs: hourMs });
  await store.revoke(revoked.key.id);
  nowMs += 10;
  const before = await dump(redis);
  t.strictSame(await store.rotate({ id: rotated.key.id, overlapMs: hourMs }), {
    outcome: "alreadyRotated",
    rotatedTo: first.outcome === "rotated" ? first.key.id : "",
  });
  t.strictSame(await store.rotate({ id: revoked.key.id, overlapMs: hourMs }), { outcome: "revoked" });
  t.strictSame(await store.rotate({ id: expired.key.id, overlapMs: hourMs }), { outcome: "expired" });
  t.equal(await dump(redis), before);
});

t.test("a rotation with a time that is none changes nothing", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const before = await dump(redis);
  for (const times of [{ overlapMs: Number.NaN }, { overlapMs: 0.5 }, { overlapMs: 0, expiresAtMs: 1e300 }]) {
    await t.rejects(store.rotate({ id: key.id, ...times }), { name: "ZodError" });
  }
  t.equal(await dump(redis), before);
});

t.test("of many rotations of one key at once a single one is made", async (t) => {
  const { store } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const results = await Promise.all(
    Array.from({ length: 10 }, () => store.rotate({ id: key.id, overlapMs: hourMs })),
  );
  t.equal(results.filter(({ outcome }) => outcome === "rotated").length, 1);
  t.equal(results.filter(({ outcome }) => outcome === "alreadyRotated").length, 9);
  t.equal((await store.list()).keys.length, 2);
});

t.test(
  "expiry is judged by Redis's clock and a monotonic age, whatever the gateway's clock says",
  async (t) => {
    const { store } = await startKeyRig(t);
    const { key } = await mustCreate(store, { expiresAtMs: Date.now() + 60_000 });
    const found = await mustFind(store, key.hash);
    t.equal(keyRefusal({ key: found, ageMs: 0, profile: "production" }), undefined);
    t.equal(keyRefusal({ key: found, ageMs: 50_000, profile: "production" }), undefined);
    t.equal(keyRefusal({ key: found, ageMs: 60_000, profile: "production" }), "api_key_expired");
  },
);

t.test(
  "production refuses development keys, seeded or made, as unknown; development takes both",
  async (t) => {
    const { store } = await startKeyRig(t);
    const live = await mustCreate(store, { profile: "production" });
    const dev = await mustCreate(store, { profile: "development" });
    t.match(dev.secret, /^tg_dev_/);
    await store.seed({ keys: [{ ...acmeKey, secret: "a-word-of-a-developer" }], profile: "development" });
    const refusal = async (hash: string, profile: "development" | "production") => {
      const key = await store.find(hash);
      return key === undefined ? "not found" : keyRefusal({ key, ageMs: 0, profile });
    };
    for (const hash of [live.key.hash, dev.key.hash, hashApiKey("a-word-of-a-developer")]) {
      t.equal(await refusal(hash, "development"), undefined);
    }
    t.equal(await refusal(live.key.hash, "production"), undefined);
    t.equal(await refusal(dev.key.hash, "production"), "api_key_invalid");
    t.equal(await refusal(hashApiKey("a-word-of-a-developer"), "production"), "api_key_invalid");
  },
);

t.test("a change of a team touches what it names, and every key of the team sees it", async (t) => {
  const { store } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  t.match(await store.setTeam({ name: "acme", limitPerMinute: 5, capPerMinute: 9 }), { outcome: "changed" });
  t.match(await store.setTeam({ name: "acme", limitPerMinute: 6 }), { outcome: "changed" });
  t.match(await store.setTeam({ name: "acme", limitPerMinute: 6 }), { outcome: "unchanged" });
  t.match(await store.setTeam({ name: "beta", capPerMinute: 1 }), { outcome: "created" });
  t.strictSame((await store.find(key.hash))?.teamSettings, {
    name: "acme",
    limitPerMinute: 6,
    capPerMinute: 9,
  });
  await store.setTeam({ name: "acme", limitPerMinute: null });
  t.strictSame(await store.showTeam("acme"), { name: "acme", capPerMinute: 9 });
  t.strictSame(
    (await store.listTeams()).teams.map(({ name }) => name),
    ["acme", "beta"],
  );
  t.equal(await store.showTeam("gamma"), undefined);
  await t.rejects(store.setTeam({ name: "a b" }), { name: "ZodError" });
  await t.rejects(store.setTeam({ name: "acme", capPerMinute: 0 }), { name: "ZodError" });
});

t.test("two operators who change different settings of one team at once both succeed", async (t) => {
  const { store } = await startKeyRig(t);
  await Promise.all([
    store.setTeam({ name: "acme", limitPerMinute: 5 }),
    store.setTeam({ name: "acme", capPerMinute: 9 }),
    store.setTeam({ name: "acme", origins: ["https://a.example"] }),
  ]);
  t.strictSame(await store.showTeam("acme"), {
    name: "acme",
    limitPerMinute: 5,
    capPerMinute: 9,
    origins: ["https://a.example"],
  });
});

t.test("a record that cannot be read is an error that says why, and hides no other", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const good = await mustCreate(store);
  const bad = await mustCreate(store);
  const record = keyRecordKey(bad.key.hash);
  const whole = await redis.hgetall(record);
  const breaks: [string, string | undefined, RegExp][] = [
    ["permissions", "rpc,root", /permissions/],
    ["limitPerMinute", "many", /limitPerMinute/],
    ["team", undefined, /team/],
    ["expiresAtMs", "tomorrow", /expiresAtMs/],
    ["profile", "staging", /profile/],
  ];
  for (const [field, value, says] of breaks) {
    await (value === undefined ? redis.hdel(record, field) : redis.hset(record, field, value));
    await t.rejects(store.find(bad.key.hash), says, field);
    await t.rejects(store.show(bad.key.id), CorruptKeyRecordError);
    await redis.del(record);
    await redis.hset(record, whole);
  }
  await redis.set(record, "not a hash");
  await t.rejects(store.find(bad.key.hash), CorruptKeyRecordError);
  t.match(await store.list(), {
    keys: [good.key],
    corrupt: [{ id: bad.key.id, problem: /expected a hash/ }],
  });
  await redis.del(record);
  t.equal(await store.find(bad.key.hash), undefined);
  t.match(await store.list(), { keys: [good.key], corrupt: [{ id: bad.key.id, problem: /is missing/ }] });
  await redis.hset(keyTeamsKey, "acme", "{");
  await t.rejects(store.find(good.key.hash), /settings of team acme: not JSON/);
  await redis.hset(keyTeamsKey, "acme", '{"name":"acme","capPerMinute":"9"}');
  await t.rejects(store.find(good.key.hash), /capPerMinute/);
  t.match(await store.listTeams(), { teams: [], corrupt: [{ name: "acme" }] });
});

t.test("a broken record can still be revoked", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  await redis.hset(keyRecordKey(key.hash), "permissions", "root");
  t.equal(await store.revoke(key.id), "revoked");
  t.ok(await redis.hget(keyRecordKey(key.hash), "revokedAtMs"));
});

t.test("a list is of one team where it is asked so, oldest first, however many there are", async (t) => {
  let nowMs = 1_700_000_000_000;
  const { store } = await startKeyRig(t, { now: () => nowMs });
  await store.setTeam({ name: "beta" });
  const ids: string[] = [];
  for (let index = 0; index < 450; index += 1) {
    nowMs += 1;
    const { key } = await mustCreate(store, { team: index % 9 === 0 ? "beta" : "acme" });
    if (key.team === "beta") ids.push(key.id);
  }
  t.equal((await store.list()).keys.length, 450);
  t.strictSame(
    (await store.list({ team: "beta" })).keys.map(({ id }) => id),
    ids,
  );
});

t.test("every script names all keys that it touches, and they share one hash tag", async (t) => {
  const { store, redis, connect } = await startKeyRig(t);
  const touched: { command: string; declared: string[]; inside: string[][] }[] = [];
  let isOver = false;
  await monitorAll(t, await connect(), (args, source) => {
    const command = args[0]?.toLowerCase() ?? "";
    if (command === "echo") isOver = true;
    if (/^eval(sha)?(_ro)?$/.test(command ?? "")) {
      touched.push({ command, declared: args.slice(3, 3 + Number(args[2])), inside: [] });
    } else if (source === "lua") {
      touched.at(-1)?.inside.push(args);
    }
  });
  const { key } = await mustCreate(store);
  await store.find(key.hash);
  await store.rotate({ id: key.id, overlapMs: 1_000 });
  await store.revoke(key.id);
  await store.setTeam({ name: "acme", capPerMinute: 2 });
  await store.seed({ keys: [{ ...acmeKey, secret: "a-word-of-a-developer" }], profile: "development" });
  await store.seed({ keys: [], profile: "development" });
  await redis.echo("the end");
  await waitFor("the last command is seen", () => isOver);
  // An EVALSHA that Redis did not know yet ran nothing; one that asks for the time touches nothing.
  const ran = touched.filter(({ inside }) => inside.some(([command = ""]) => !/^time$/i.test(command)));
  t.equal(ran.length, 7);
  for (const { declared, inside } of ran) {
    t.ok(declared.length > 0);
    for (const name of declared) t.match(name, /^\{keys\}:/);
    for (const [command = "", name = ""] of inside) {
      if (!/^(time|publish)$/i.test(command)) t.ok(declared.includes(name), `${command} ${name}`);
    }
  }
});
