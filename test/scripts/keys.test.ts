import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import t, { type Test } from "tap";
import { createLimiter } from "../../gateway/limits/limiter.ts";
import { checkApiKey, hashApiKey } from "../../lib/keys/api-key.ts";
import { runKeys } from "../../scripts/keys/run-keys.ts";
import { nodeEnvironment } from "../helpers/node-environment.ts";
import { asUser, startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { dump, mustFind, startKeyRig } from "../lib/keys/key-store-rig.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dayMs = 86_400_000;

type Outcome = { code: number; out: string; err: string };

/** The command line in this process, before a Redis of its own with the team `acme`. */
async function startKeys(t: Test) {
  const rig = await startKeyRig(t);
  const keys = async (...args: string[]): Promise<Outcome> => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runKeys({
      args,
      env: { REDIS_URL: asUser(rig.server.url, "keys") },
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  const mustRun = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await keys(...args);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${err}`);
    return out;
  };
  /** Makes a key for `acme` and answers its secret and record. */
  const create = async (...args: string[]) => {
    const secret = await mustRun("create", "--team", "acme", ...args);
    return { secret, key: await mustFind(rig.store, hashApiKey(secret)) };
  };
  return { ...rig, keys, mustRun, create };
}

/** The program itself, in a process of its own. */
function runProgram(args: string[], { env, cwd = root }: { env: Record<string, string>; cwd?: string }) {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(root, "scripts/keys/main.ts"), ...args],
    { cwd, env: { ...nodeEnvironment, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise<Outcome>((resolve) => {
    child.once("close", (code) => resolve({ code: code ?? -1, out, err }));
  });
}

t.test("a partner's key from the team to its end, by the program itself", async (t) => {
  const { url } = await startRedis(t);
  const env = { REDIS_URL: url };
  t.match(await runProgram(["team", "set", "acme", "--limit", "300"], { env }), { code: 0, out: /created/ });
  const created = await runProgram(
    [
      "create",
      "--team",
      "acme",
      "--label",
      "acme staging",
      "--permissions",
      "rpc,faucet",
      "--expires",
      "30d",
    ],
    { env },
  );
  t.equal(created.code, 0);
  const secret = created.out.trim();
  t.equal(checkApiKey(secret), "valid", "stdout is the secret and nothing else");
  t.match(created.err, /shown this once/);
  t.notOk(created.err.includes(secret));
  const list: { keys: { id: string }[] } = JSON.parse((await runProgram(["list", "--json"], { env })).out);
  const id = list.keys[0]?.id ?? "";
  t.match(list, { keys: [{ team: "acme", permissions: ["rpc", "faucet"], state: "active" }] });
  t.match(await runProgram(["rotate", id, "--overlap", "24h"], { env }), { code: 0, err: /in 24 h/ });
  t.match(await runProgram(["revoke", id], { env }), { code: 0, out: `${id} is revoked.\n` });
  t.match(await runProgram(["show", `${id}x`], { env }), { code: 1, out: "", err: `Did you mean ${id}?` });
  t.match(await runProgram(["list", "--temm", "acme"], { env }), {
    code: 2,
    out: "",
    err: /Did you mean --team/,
  });
});

t.test("the secret is on stdout alone, and no later command shows it", async (t) => {
  const { create, keys, redis } = await startKeys(t);
  const { secret, key } = await create();
  for (const args of [["list"], ["list", "--json", "--all"], ["show", key.id], ["show", key.id, "--json"]]) {
    const { out, err } = await keys(...args);
    t.match(out, key.id);
    for (const text of [out, err]) {
      t.notOk(text.includes(secret.slice(8)), args.join(" "));
      t.notOk(text.includes(key.hash), "a weak development key could be guessed by it");
    }
  }
  t.notOk((await dump(redis)).includes(secret.slice(8)));
});

t.test("a secret in the place of an id is not repeated", async (t) => {
  const { create, keys } = await startKeys(t);
  const { secret } = await create();
  for (const command of ["show", "revoke", "rotate"]) {
    const { code, out, err } = await keys(command, secret);
    t.equal(code, 2);
    t.match(err, /its id is wanted/);
    t.notOk(`${out}${err}`.includes(secret.slice(8)), command);
  }
});

t.test("create sets what its options say, and defaults else", async (t) => {
  const { create, store } = await startKeys(t);
  const nowMs = await store.nowMs();
  const plain = (await create()).key;
  t.match(plain, { team: "acme", label: "acme", permissions: ["rpc"], qa: false, profile: "development" });
  for (const field of ["limitPerMinute", "origins", "expiresAtMs"]) t.notOk(field in plain, field);
  const { secret, key } = await create(
    ...["--label", "für Ärger", "--permissions", "explorer, rpc", "--expires", "12h", "--limit", "42"],
    ...["--origins", "https://a.example,http://localhost:3000", "--profile", "production"],
  );
  t.match(secret, /^tg_live_/);
  t.match(key, {
    label: "für Ärger",
    permissions: ["rpc", "explorer"],
    limitPerMinute: 42,
    origins: ["https://a.example", "http://localhost:3000"],
    profile: "production",
  });
  const expiresInMs = (key.expiresAtMs ?? 0) - nowMs;
  t.ok(Math.abs(expiresInMs - dayMs / 2) < 10_000, `${expiresInMs} ms`);
  t.equal(
    (await create("--expires", "2035-01-31T12:00:00+02:00")).key.expiresAtMs,
    Date.parse("2035-01-31T10:00:00Z"),
  );
  t.match((await create("--qa")).key, { qa: true, limitPerMinute: 600_000 });
  t.match((await create("--qa", "--limit", "7")).key, { qa: true, limitPerMinute: 7 });
});

t.test("a wrong command line says what was expected, changes nothing, and ends with 2", async (t) => {
  const { keys, redis } = await startKeys(t);
  const before = await dump(redis);
  const create = ["create", "--team", "acme"];
  const wrong: [string[], RegExp][] = [
    [[], /Usage: npm run keys/],
    [["--json"], /no command "--json"/],
    [["craete"], /Did you mean create\?/],
    [["frobnicate"], /no command "frobnicate"[\s\S]*Usage/],
    [["team"], /team set, team list, team show/],
    [["team", "shwo"], /team set, team list, team show/],
    [["create"], /--team is missing: NAME/],
    [["create", "--team"], /--team needs a value/],
    [["create", "--team="], /--team needs a value/],
    [["create", "--team", "A Team"], /--team: .*lower-case letters/],
    [[...create, "--team", "other"], /--team was given more than once/],
    [[...create, "stray"], /"stray" is one word too many/],
    [[...create, "--permisions", "rpc"], /Did you mean --permissions\?/],
    [[...create, "--permissions", "rpc,fawcet"], /rpc,faucet,explorer, got "fawcet". Did you mean faucet\?/],
    [[...create, "--permissions", ","], /rpc,faucet,explorer/],
    [[...create, "--expires", "30"], /30d/],
    [[...create, "--expires", "0d"], /30d, or a date/],
    [[...create, "--expires", "soon"], /30d, or a date/],
    [[...create, "--expires", "2020-01-01"], /a time after now/],
    [[...create, "--expires", "2027-02-30T00:00:00Z"], /30d, or a date/],
    [[...create, "--expires", "9999-01-01"], /next 10 years/],
    [[...create, "--expires", "2027-01-01T00:00:00"], /30d, or a date/],
    [[...create, "--limit", "0"], /1 to 1000000000/],
    [[...create, "--limit", "-5"], /1 to 1000000000/],
    [[...create, "--limit", "1e3"], /1 to 1000000000/],
    [[...create, "--limit", "9999999999"], /1 to 1000000000/],
    [[...create, "--origins", "https://a.example/path"], /--origins: .*https:\/\/app.example/],
    [[...create, "--origins", "*"], /--origins: .*https:\/\/app.example/],
    [[...create, "--label", "a\u0007b"], /--label: .*control characters/],
    [[...create, "--profile", "live"], /development or production/],
    [[...create, "--qa=yes"], /--qa takes no value/],
    [[...create, "--redis", "localhost:6379"], /redis:\/\/127.0.0.1:6379/],
    [[...create, "--config", "no-such-file.yaml"], /no-such-file.yaml/],
    [["show"], /ID is missing/],
    [["show", "a", "b"], /"b" is one word too many/],
    [["rotate", "k_000000000000", "--overlap", "1 day"], /30m, 24h or 30d/],
    [["rotate", "k_000000000000", "--overlap", "4000d"], /at most 10 years/],
    [["team", "set"], /NAME is missing/],
    [["team", "set", "A}"], /NAME: .*lower-case letters/],
    [["team", "set", "acme", "--cap", "lots"], /--cap: .*calls a minute/],
  ];
  for (const [args, says] of wrong) {
    const { code, out, err } = await keys(...args);
    t.strictSame({ code, out }, { code: 2, out: "" }, args.join(" "));
    t.match(err, says);
  }
  t.equal(await dump(redis), before);
});

t.test("an id or team that is not there ends with 1 and suggests the nearest", async (t) => {
  const { create, keys, redis } = await startKeys(t);
  const { key } = await create();
  const before = await dump(redis);
  const swapped = key.id.replace(/(.)(.)$/, (_, last, next) => next + last);
  const typo = swapped === key.id ? `${key.id}x` : swapped;
  for (const command of ["show", "revoke", "rotate"]) {
    t.match(await keys(command, typo), { code: 1, out: "", err: `Did you mean ${key.id}?` });
    const far = await keys(command, "k_!!!!!!!!!!!!");
    t.match(far, { code: 1, err: /list shows all/ });
    t.notMatch(far.err, /Did you mean/);
  }
  t.match(await keys("create", "--team", "amce"), { code: 1, err: /Did you mean acme\?.*team set amce/ });
  t.match(await keys("list", "--team", "amce"), { code: 1, err: /Did you mean acme\?/ });
  t.match(await keys("team", "show", "acm"), { code: 1, err: /Did you mean acme\?/ });
  t.equal(await dump(redis), before);
});

t.test("every command tells its options, without Redis", async (t) => {
  for (const command of [
    "create",
    "list",
    "show",
    "rotate",
    "revoke",
    "team set",
    "team list",
    "team show",
  ]) {
    for (const flag of ["--help", "-h"]) {
      const out: string[] = [];
      const args = [...command.split(" "), flag];
      const env = { REDIS_URL: "redis://127.0.0.1:1" };
      const code = await runKeys({
        args,
        env,
        print: (text) => out.push(text),
        note: (text) => t.fail(text),
      });
      t.equal(code, 0);
      t.match(out.join("\n"), `Usage: npm run keys -- ${command}`);
      t.match(out.join("\n"), /--redis URL[\s\S]*Example: npm run keys/);
    }
  }
});

t.test("the examples of the help work as they stand, with an id that is there", async (t) => {
  const { create, keys, mustRun } = await startKeys(t);
  for (const command of [
    "create",
    "list",
    "show",
    "rotate",
    "revoke",
    "team set",
    "team list",
    "team show",
  ]) {
    const help = await mustRun(...command.split(" "), "--help");
    const { key } = await create();
    const example = /Example: npm run keys -- (.*)/.exec(help)?.[1]?.replace(/k_\w+/, key.id) ?? "";
    const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
    t.match(await keys(...words), { code: 0 }, example);
  }
});

t.test("a list leaves out what is revoked or expired, and says so", async (t) => {
  const { create, keys, mustRun, store } = await startKeys(t);
  t.match(await keys("list"), { code: 0, out: "", err: /There are no keys/ });
  const good = await create("--label", "good one");
  const bad = await create("--label", "bad one");
  await mustRun("revoke", bad.key.id);
  const list = await keys("list");
  t.match(list.out, new RegExp(`^ID .*\n${good.key.id}  acme  good one .* active`));
  t.notMatch(list.out, bad.key.id);
  t.match(list.err, /1 more: revoked or expired/);
  t.match(await mustRun("list", "--all"), new RegExp(`${bad.key.id}.* revoked `));
  await store.setTeam({ name: "beta" });
  t.match(JSON.parse(await mustRun("list", "--team", "beta", "--json")), { keys: [], corrupt: [] });
});

t.test("show tells the limit and where it comes from, and use in the window and today", async (t) => {
  const { create, mustRun, redis } = await startKeys(t);
  const { key } = await create();
  t.match(await mustRun("show", key.id), /limit +100 a minute \(the default\)/);
  await mustRun("team", "set", "acme", "--limit", "300", "--cap", "1000", "--origins", "https://a.example");
  const idle = await mustRun("show", key.id);
  t.match(idle, /limit +300 a minute \(the team's\); all keys of the team 1,000/);
  t.match(idle, /origins +https:\/\/a.example \(the team's\)/);
  t.match(idle, /used now +0 of 300 \(no window is running\)/);

  const limiter = createLimiter({ redis, logger: pino({ level: "silent" }) });
  t.teardown(() => limiter.stop());
  const charged = { keyId: key.id, team: "acme", limitPerMinute: 300, teamCapPerMinute: 1_000 };
  await limiter.charge({ ...charged, costs: [1, 2, 4] });
  await limiter.charge({ ...charged, keyId: "k_anotherofhis", costs: [10] });
  const busy = await mustRun("show", key.id);
  t.match(busy, /used now +7 of 300 \(ends in (60|5\d) s\)/);
  t.match(busy, /used today +7\n/);
  t.match(busy, /team now +17 of 1,000/);
  t.match(JSON.parse(await mustRun("show", key.id, "--json")), {
    key: { id: key.id, team: "acme", state: "active" },
    limitPerMinute: 300,
    use: { window: { used: 7 }, today: 7 },
    teamUse: { window: { used: 17 }, today: 17 },
  });
  const own = await create("--limit", "5");
  t.match(await mustRun("show", own.key.id), /limit +5 a minute \(the key's own\)/);
});

t.test("rotate: both secrets are good, the old one until the overlap ends", async (t) => {
  const { create, keys, store, mustRun } = await startKeys(t);
  const { key, secret } = await create("--limit", "9");
  const rotated = await keys("rotate", key.id, "--overlap", "2h");
  t.equal(rotated.code, 0);
  t.match(rotated.err, /ends .*\(in 2 h\)[\s\S]*shown this once/);
  const successor = await mustFind(store, hashApiKey(rotated.out));
  t.match(successor, { limitPerMinute: 9, rotatedFrom: key.id });
  const old = await mustFind(store, hashApiKey(secret));
  t.equal(old.rotatedTo, successor.id);
  t.ok(Math.abs((old.expiresInMs ?? 0) - dayMs / 12) < 10_000);
  t.match(
    await mustRun("show", key.id),
    new RegExp(`until the overlap ends[\\s\\S]*rotated to +${successor.id}`),
  );
  t.match(await keys("rotate", key.id), { code: 1, err: `rotated already, to ${successor.id}` });
  const json = JSON.parse(
    await mustRun("rotate", successor.id, "--overlap", "0", "--expires", "5d", "--json"),
  );
  t.match(json, { key: { rotatedFrom: successor.id }, previous: { id: successor.id } });
  t.equal(checkApiKey(json.secret), "valid");
  t.match(await keys("rotate", successor.id), { code: 1 });
  await mustRun("revoke", json.key.id);
  t.match(await keys("rotate", json.key.id), { code: 1, err: /it is revoked/ });
});

t.test("team set changes what it names, none takes it away", async (t) => {
  const { mustRun, keys } = await startKeys(t);
  const json = async (...args: string[]) => JSON.parse(await mustRun(...args, "--json"));
  t.match(await json("team", "set", "acme", "--limit", "300", "--cap", "900"), { outcome: "changed" });
  t.strictSame(await json("team", "set", "acme", "--cap", "none", "--origins", "https://a.example"), {
    outcome: "changed",
    team: { name: "acme", limitPerMinute: 300, origins: ["https://a.example"] },
  });
  t.match(await mustRun("team", "list"), /^TEAM .*\nacme +300 +- +https:\/\/a.example/);
  t.match(await mustRun("team", "show", "acme"), /keys +0/);
  t.match(await keys("team", "set", "beta"), { code: 0, out: /Team beta: created/ });
});

t.test("a record that cannot be read is named, and the others are listed", async (t) => {
  const { create, keys, redis } = await startKeys(t);
  const good = await create();
  const bad = await create();
  await redis.hset(`{keys}:record:${bad.key.hash}`, "permissions", "root");
  t.match(await keys("list"), { code: 0, out: good.key.id, err: `${bad.key.id} cannot be read: ` });
  t.match(await keys("show", bad.key.id), { code: 1, out: "", err: /permissions/ });
  t.match(await keys("revoke", bad.key.id), { code: 0 });
});

t.test("a Redis that cannot be used is named without its password, with 1", async (t) => {
  const out: string[] = [];
  const code = await runKeys({
    args: ["list", "--redis", "redis://admin:sesame@127.0.0.1:1"],
    env: {},
    print: (text) => out.push(text),
    note: (text) => out.push(text),
  });
  t.equal(code, 1);
  t.match(out.join("\n"), /redis:\/\/127.0.0.1:1 cannot be used \(ECONNREFUSED\)/);
  t.notMatch(out.join("\n"), /sesame/);
});

t.test(
  "which Redis: the option, the named configuration, REDIS_URL, npm start's while it runs, the default",
  async (t) => {
    const servers = await Promise.all([
      startKeyRig(t),
      startKeyRig(t),
      startKeyRig(t),
      startKeyRig(t),
      startKeyRig(t),
    ]);
    const [option, named, environment, dev, fallback] = servers;
    if (!option || !named || !environment || !dev || !fallback) throw new Error("five servers");
    for (const [index, { store }] of servers.entries()) await store.setTeam({ name: `team-${index}` });
    const cwd = testFolder(t, { ".data": { redis: {} }, config: {} });
    const configure = (file: string, url: string) =>
      writeFileSync(
        join(cwd, file),
        `redis: ${url}\nupstreams: http://127.0.0.1:8545\nmethodsFile: ${join(root, "config/methods.yaml")}\n`,
      );
    mkdirSync(join(cwd, "config"), { recursive: true });
    configure("named.yaml", named.server.url);
    configure("config/gateway.yaml", fallback.server.url);
    writeFileSync(join(cwd, ".data/redis/url"), `${dev.server.url}\n`);
    const env = { REDIS_URL: environment.server.url };
    const asked = async (args: string[], more: { env: Record<string, string> }) => {
      const { out, err } = await runProgram(["team", "list", ...args], { ...more, cwd });
      return { team: /team-(\d)/.exec(out)?.[1], err };
    };
    const config = ["--config", "named.yaml"];
    t.match(await asked([...config, "--redis", option.server.url], { env }), { team: "0" });
    t.match(await asked(config, { env }), { team: "1" });
    t.match(await asked([], { env }), { team: "2" });
    t.match(await asked([], { env: {} }), {
      team: "3",
      err: `Using the Redis of npm start (${dev.server.url})`,
    });
    await dev.server.kill();
    t.strictSame(await asked([], { env: {} }), { team: "4", err: "" });
  },
);

t.test(
  "a service's key is made once and kept in a file; one that is no longer good is replaced",
  async (t) => {
    const { keys, mustRun, store } = await startKeys(t);
    const folder = testFolder(t, {});
    const file = join(folder, "key");
    const ensure = () => keys("service", "api", "--file", file);
    const kept = () => readFileSync(file, "utf8").trim();
    t.match(await ensure(), { code: 0, out: `${file} has a new key of team api.` });
    t.equal(statSync(file).mode & 0o777, 0o600);
    const first = kept();
    const record = await mustFind(store, hashApiKey(first));
    t.match(record, { team: "api", permissions: ["rpc", "explorer"], profile: "development" });
    t.match(await store.showTeam("api"), { limitPerMinute: 10_000_000 });
    t.match(await ensure(), { code: 0, out: /has a good key; nothing was changed/ });
    t.equal(kept(), first);

    await mustRun("revoke", record.id);
    t.match(await ensure(), { out: /has a new key/ }, "revoked");
    const second = kept();
    await mustRun("rotate", (await mustFind(store, hashApiKey(second))).id, "--overlap", "1h");
    t.match(await ensure(), { out: /has a new key/ }, "it ends in an hour");
    writeFileSync(file, "of another network");
    t.match(await ensure(), { out: /has a new key/ }, "unknown");
    t.equal(new Set([first, second, kept()]).size, 3);
    t.match(await keys("service", "api", "--file", join(folder, "none", "key")), {
      code: 1,
      err: /The key cannot be written: ENOENT/,
    });
    t.match(await keys("service", "api"), { code: 2, err: /--file is missing/ });
  },
);
