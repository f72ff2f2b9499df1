import t from "tap";
import { createApiKey, hashApiKey } from "../../../lib/keys/api-key.ts";
import { keyVersionKey } from "../../../lib/redis/keys/api-keys.ts";
import { dump, mustCreate, startKeyRig } from "./key-store-rig.ts";

const core = {
  secret: createApiKey({ profile: "development" }),
  label: "core development",
  team: "core",
  permissions: ["rpc" as const, "faucet" as const, "explorer" as const],
};
const qa = {
  secret: "a word of a developer",
  label: "partner QA",
  team: "partner-qa",
  permissions: ["rpc" as const],
  limitPerMinute: 600_000,
  origins: ["https://qa.example"],
  qa: true,
  expiresAtMs: 1_900_000_000_000,
};

t.test("configured keys come into Redis with their teams, marked as seeded for development", async (t) => {
  const { store } = await startKeyRig(t);
  t.strictSame(await store.seed({ keys: [core, qa], profile: "development" }), {
    seeded: 2,
    unchanged: 0,
    kept: 0,
    removed: 0,
  });
  const found = await store.find(hashApiKey(qa.secret));
  t.match(found, {
    team: "partner-qa",
    label: "partner QA",
    permissions: ["rpc"],
    limitPerMinute: 600_000,
    origins: ["https://qa.example"],
    qa: true,
    expiresAtMs: 1_900_000_000_000,
    profile: "development",
    seededFor: "development",
    teamSettings: { name: "partner-qa" },
  });
  t.strictSame(await store.showTeam("core"), { name: "core" });
});

t.test(
  "the same configuration again changes nothing, also when several gateways start at once",
  async (t) => {
    const { store, redis } = await startKeyRig(t);
    const results = await Promise.all(
      Array.from({ length: 5 }, () => store.seed({ keys: [core, qa], profile: "development" })),
    );
    t.equal(
      results.reduce((sum, { seeded }) => sum + seeded, 0),
      2,
    );
    const before = await dump(redis);
    t.match(await store.seed({ keys: [core, qa], profile: "development" }), { seeded: 0, unchanged: 2 });
    t.equal(await dump(redis), before);
  },
);

t.test("a changed configuration changes the record and keeps its id", async (t) => {
  const { store } = await startKeyRig(t);
  await store.seed({ keys: [core, qa], profile: "development" });
  const before = await store.find(hashApiKey(qa.secret));
  const { limitPerMinute: _, origins: __, expiresAtMs: ___, ...less } = qa;
  t.match(
    await store.seed({
      keys: [core, { ...less, permissions: ["rpc", "explorer"], team: "core" }],
      profile: "development",
    }),
    { seeded: 1, unchanged: 1 },
  );
  const after = await store.find(hashApiKey(qa.secret));
  t.equal(after?.id, before?.id);
  t.strictSame(after?.permissions, ["rpc", "explorer"]);
  t.equal(after?.team, "core");
  for (const field of ["limitPerMinute", "origins", "expiresAtMs", "expiresInMs"])
    t.notOk(field in Object(after));
});

t.test("a key that the configuration no longer has goes, and operators' keys stay", async (t) => {
  const { store } = await startKeyRig(t);
  const made = await mustCreate(store, { profile: "development" });
  await store.seed({ keys: [core, qa], profile: "development" });
  t.match(await store.seed({ keys: [core], profile: "development" }), { unchanged: 1, removed: 1 });
  t.equal(await store.find(hashApiKey(qa.secret)), undefined);
  t.match(await store.find(hashApiKey(core.secret)), { team: "core" });
  t.match(await store.find(made.key.hash), { id: made.key.id });
  t.strictSame(
    (await store.list()).keys.map(({ id }) => id).includes(made.key.id),
    true,
    "index and record agree",
  );
  t.equal((await store.list()).corrupt.length, 0);
});

t.test("a configured key that an operator made is left as it is", async (t) => {
  const { store } = await startKeyRig(t);
  const { secret, key } = await mustCreate(store, { profile: "production" });
  t.match(await store.seed({ keys: [{ ...core, secret }], profile: "development" }), { kept: 1 });
  t.strictSame(await store.show(key.id), key);
  t.match(await store.seed({ keys: [], profile: "development" }), { removed: 0 });
  t.strictSame(await store.show(key.id), key);
});

t.test("a seeded key that was revoked or rotated is not brought back by the next start", async (t) => {
  const { store } = await startKeyRig(t);
  await store.seed({ keys: [core, qa], profile: "development" });
  const ids = (await store.list()).keys.map(({ id, team }) => ({ id, team }));
  const idOf = (team: string) => ids.find((key) => key.team === team)?.id ?? "";
  await store.revoke(idOf("core"));
  const rotated = await store.rotate({ id: idOf("partner-qa"), overlapMs: 1_000 });
  if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
  t.match(await store.seed({ keys: [core, qa], profile: "development" }), { seeded: 0, unchanged: 2 });
  t.ok((await store.show(idOf("core")))?.revokedAtMs);
  t.strictSame(await store.show(idOf("partner-qa")), rotated.previous);
  t.strictSame(await store.show(rotated.key.id), rotated.key, "the successor is an operator's");
  t.notOk("seededFor" in rotated.key);
});

t.test("a mistake in one key changes nothing at all", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const before = await dump(redis);
  const mistyped = core.secret.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
  await t.rejects(
    store.seed({ keys: [qa, { ...core, secret: mistyped }], profile: "development" }),
    /"core development" is mistyped/,
  );
  await t.rejects(store.seed({ keys: [qa, { ...core, team: "a b" }], profile: "development" }), {
    name: "ZodError",
  });
  t.equal(await dump(redis), before);
});

t.test("production has no configured keys, and leaves those of a development gateway alone", async (t) => {
  const { store, redis } = await startKeyRig(t);
  await store.seed({ keys: [core], profile: "development" });
  const before = await redis.get(keyVersionKey);
  await t.rejects(store.seed({ keys: [core], profile: "production" }), /production refuses/);
  t.match(await store.seed({ keys: [], profile: "production" }), { removed: 0 });
  t.equal(await redis.get(keyVersionKey), before);
});
