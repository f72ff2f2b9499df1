import { mkdtemp, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { runFaucet } from "../../scripts/faucet/run-faucet.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { connectAdmin, startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { randomAddress } from "./support/outside-wallet.ts";
import { allowlistText, startFaucet } from "./support/start-faucet.ts";

const redis = await startRedis(t);
const anvil = await startAnvil(t);
let database = 0;

/** A Redis database and a file of its own; the list begins with one address. */
async function startRig(t: Test) {
  database += 1;
  const redisUrl = `${redis.url}/${database}`;
  const folder = await mkdtemp(join(tmpdir(), "tollgate-allowlist-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "faucet-allowlist.yaml");
  const first = randomAddress();
  await writeFile(file, `# Ours.\naddresses:\n  - address: "${first}"\n    label: first # the very first\n`);
  const start = (allowlistFile = file) => startFaucet(t, { redisUrl, upstream: anvil.url, allowlistFile });
  return { redisUrl, folder, file, first, start };
}

t.test("an edit takes effect without a restart, on every replica", async (t) => {
  const { file, first, start, folder } = await startRig(t);
  const [one, two] = [await start(), await start()];
  const added = randomAddress();
  t.match(await two.claim({ address: added }), { status: 403 });
  // As editors do it: a new file in the old one's place.
  await writeFile(join(folder, "new"), allowlistText([{ address: added }]));
  await rename(join(folder, "new"), file);
  await waitFor("added", async () => (await one.claim({ address: added })).status === 202);
  t.match(await two.claim({ address: first }), { status: 403 }, "and what was taken out is refused");
  t.match(JSON.parse((await two.get("/status")).text), { allowlist: { entries: 1, problem: null } });
});

t.test("a bad edit keeps the list, and says line and reason", async (t) => {
  const { file, first, start } = await startRig(t);
  const faucet = await start();
  const address = randomAddress();
  const wrongCase = address.replace(/[a-f]/i, (sign) =>
    sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase(),
  );
  const edits: [string, RegExp][] = [
    [
      `addresses:\n  - address: "${wrongCase}"\n    label: x\n`,
      /^faucet-allowlist\.yaml:2: addresses\[0\]\.address: .*checksum/,
    ],
    [
      "addresses:\n  - address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n    label: x\n",
      /:2: .*in quotes/,
    ],
    [`addresses:\n  - address: "${address}"\n`, /:2: .*label/],
    [`addresses:\n  - address: "${address}"\n    label: x\n    amount: -1\n`, /:4: .*amount of tokens/],
    [
      `addresses:\n  - { address: "${address}", label: x }\n  - { address: "${address}", label: y }\n`,
      /:3: .*twice/,
    ],
    ["addresses: [\n", /^faucet-allowlist\.yaml:\d+: /],
    ["addresses: []\nmore: 1\n", /:2: more: .*unknown/],
    ["", /addresses/],
  ];
  for (const [text, problem] of edits) {
    await writeFile(file, text);
    await waitFor(`${problem}`, async () => {
      const { allowlist } = JSON.parse((await faucet.get("/status")).text);
      return allowlist.problem !== null && problem.test(allowlist.problem) && allowlist.entries === 1;
    });
    t.ok(
      faucet.logLines.some(
        (line) => line.includes("the list before it holds") && problem.test(JSON.parse(line).problem),
      ),
    );
  }
  t.match(await faucet.claim({ address: first }), { status: 202 }, "the list before it holds");
  await writeFile(file, allowlistText([{ address }]));
  await waitFor(
    "mended",
    async () => JSON.parse((await faucet.get("/status")).text).allowlist.problem === null,
  );
  t.match(await faucet.claim({ address }), { status: 202 });
});

t.test("of two replicas' files, the one that was changed later counts", async (t) => {
  const { file, first, start, folder } = await startRig(t);
  const older = join(folder, "older.yaml");
  const [before] = [randomAddress()];
  await writeFile(older, allowlistText([{ address: before }]));
  await utimes(older, new Date(0), new Date(0));
  await start(file);
  const behind = await start(older);
  t.match(await behind.claim({ address: before }), { status: 403 });
  t.match(await behind.claim({ address: first }), { status: 202 });
  t.match(JSON.parse((await behind.get("/status")).text), { allowlist: { problem: /changed later/ } });
});

t.test("a file that is restored from a backup counts, though its time is of back then", async (t) => {
  const { file, first, start, folder } = await startRig(t);
  const faucet = await start();
  const backup = join(folder, "backup.yaml");
  const restored = randomAddress();
  await writeFile(backup, allowlistText([{ address: restored }]));
  await utimes(backup, new Date(0), new Date(0));
  // As `cp -p` and `rsync -t` leave it.
  await rename(backup, file);
  await waitFor("restored", async () => (await faucet.claim({ address: restored })).status === 202);
  t.match(await faucet.claim({ address: first }), { status: 403 });
  t.match(JSON.parse((await faucet.get("/status")).text), { allowlist: { problem: null } });
});

t.test("the command line", async (t) => {
  const { file, first, start, folder, redisUrl } = await startRig(t);
  const faucet = await start();
  const config = join(folder, "faucet.yaml");
  const developmentKey = `0x${"1".repeat(64)}`;
  await writeFile(
    config,
    JSON.stringify({ redis: redisUrl, allowlistFile: file, wallet: { developmentKey } }),
  );
  const run = async (...args: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runFaucet({
      args: [...args, "--config", config],
      env: {},
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  const added = randomAddress();

  t.test("allow and deny edit the file, whose comments stay, and hold at once", async (t) => {
    t.match(await run("allow", added.toLowerCase(), "--label", "Acme, QA", "--amount", "2.5"), {
      code: 0,
      out: `${added} may claim (2 on the list).`,
    });
    t.match(await faucet.claim({ address: added }), {
      status: 202,
      json: { claim: { amount: "2500000000000000000" } },
    });
    t.match(await run("allow", added, "--label", "again"), { code: 0, out: "", err: /already/ });
    const { out } = await run("list");
    t.match(out, /^ADDRESS +LABEL +TOKENS\n0x\w+ +first +10\n0x\w+ +Acme, QA +2\.5$/);
    t.match(await run("deny", first), { code: 0, out: `${first} may claim no more (1 on the list).` });
    t.match(await faucet.claim({ address: first }), { status: 403 });
    t.match(await run("deny", first), { code: 1, err: /not on the list/ });
    t.match(JSON.parse((await run("list", "--json")).out), {
      entries: [{ address: added, amount: "2.5" }],
      inUse: 1,
    });
  });

  t.test("pause and resume hold for all replicas; status tells", async (t) => {
    t.match(await run("pause"), { code: 0, out: "The faucet is paused." });
    t.match(await run("pause"), { code: 0, out: "The faucet was paused already." });
    t.match(await faucet.claim({ address: added }), { status: 503, json: { detail: /paused/ } });
    t.match((await run("status")).out, /^paused +yes$/m);
    t.match(await run("resume"), { code: 0, out: "The faucet goes on." });
    t.match(await run("resume"), { code: 0, out: "The faucet was not paused." });
    const { out } = await run("status");
    for (const line of [/^wallet +0x/m, /^balance +[\d,]+(\.\d+)? TEST$/m, /^paused +no$/m, /^paying +yes$/m])
      t.match(out, line);
    t.match(JSON.parse((await run("status", "--json")).out), { address: faucet.wallet, paying: true });
  });

  t.test("what cannot be done is said, and changes nothing", async (t) => {
    const cases: [string[], number, RegExp][] = [
      [["allow", added], 2, /--label is missing/],
      [["allow", "0x12", "--label", "x"], 2, /ADDRESS: .*40 hexadecimal digits/],
      [["allow", randomAddress(), "--label", "x", "--amount", "-1"], 2, /--amount: .*above 0/],
      [["allow", "--label", "x"], 2, /ADDRESS is missing/],
      [["allow", randomAddress(), "--label", "x".repeat(121)], 2, /--label: at most 120 characters/],
      [["deni", added], 2, /no command "deni".*Did you mean deny/],
      [["deny", added.slice(0, -2)], 2, new RegExp(`40 hexadecimal digits.*Did you mean ${added}\\?`)],
      [["deny", added.toLowerCase().replace(/.{2}$/, "zz")], 2, new RegExp(`Did you mean ${added}\\?`)],
      [["deny", nextTo(added)], 1, new RegExp(`not on the list. Did you mean ${added}\\?`)],
      [["pause", "now"], 2, /"now" is one word too many/],
      [["list", "--jsno"], 2, /no option --jsno\. Did you mean --json\?/],
    ];
    for (const [args, code, says] of cases)
      t.match(await run(...args), { code, out: "", err: says }, args.join(" "));
    const before = JSON.parse((await run("list", "--json")).out);
    await writeFile(file, "addresses: 5\n");
    t.match(await run("allow", randomAddress(), "--label", "x"), {
      code: 2,
      err: /faucet-allowlist\.yaml:1: addresses/,
    });
    const client = await connectAdmin(t, redisUrl);
    t.equal(await client.hlen("{faucet}:allowlist"), before.entries.length);
  });
});

/** An address that differs in its last digit. */
function nextTo(address: string): string {
  const lower = address.toLowerCase();
  return lower.slice(0, -1) + (lower.endsWith("0") ? "1" : "0");
}
