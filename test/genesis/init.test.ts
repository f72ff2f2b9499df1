import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { computeAddress } from "ethers/transaction";
import { pino } from "pino";
import t, { type Test } from "tap";
import { z } from "zod";
import { startWalletProxy } from "../../gateway/wallet-proxy/start-wallet-proxy.ts";
import { inspectGenesis } from "../../genesis/inspect/inspect-genesis.ts";
import { readManifest } from "../../genesis/manifest.ts";
import { runGenesis } from "../../genesis/run-genesis.ts";
import { writeNetwork } from "../../genesis/write-network.ts";
import { testFolder } from "../helpers/test-folder.ts";

const shipped = fileURLToPath(new URL("../../config/network.yaml", import.meta.url));
const crashingInit = fileURLToPath(new URL("crashing-init.ts", import.meta.url));
const now = () => new Date("2026-11-21T10:00:00.000Z");
const fileCount = 32;

async function init(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runGenesis({
    args: ["init", "--config", shipped, ...args],
    env: {},
    now,
    print: (text) => out.push(text),
    note: (text) => err.push(text),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

function place(t: Test) {
  const parent = testFolder(t, {});
  const folder = join(parent, "network");
  return { parent, folder, read: (path: string) => readFileSync(join(folder, path), "utf8") };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

t.test(
  "a network has keys, a genesis file, static nodes, a configuration a node and a wallet's",
  async (t) => {
    const { folder, read } = place(t);
    const { code, out } = await init("--out", folder);
    t.equal(code, 0);
    const names = [1, 2, 3, 4, 5].map((number) => `validator-${number}`);
    t.same(
      filesOf(folder),
      [
        ".gitignore",
        "compose.env",
        "genesis.json",
        "network.json",
        "operator.pub.pem",
        "operator/rpc-key.pem",
        "permissions_config.toml",
        "static-nodes.json",
        "wallet.json",
        "accounts/faucet.key",
        "accounts/treasury.key",
        "secrets/grafana-password",
        "secrets/postgres-password",
        "secrets/postgres-url",
        "secrets/redis-faucet-url",
        "secrets/redis-url",
        ...["api", "backup", "faucet", "faucet-backup", "gateway", "keys"].map(
          (user) => `secrets/redis-user-${user}`,
        ),
        ...names.flatMap((name) => [`${name}/config.toml`, `${name}/key`]),
      ].sort(),
    );
    t.equal(filesOf(folder).length, fileCount);
    const manifest = mustManifest(folder);
    for (const { name, address, nodeId, host } of manifest.validators) {
      const key = read(`${name}/key`).trim();
      t.equal(computeAddress(key).toLowerCase(), address);
      t.ok(read("static-nodes.json").includes(`enode://${nodeId}@${host}:30303`));
      t.ok(out.includes(address));
    }
    const inspected = inspectGenesis(read("genesis.json"), { now });
    if ("problem" in inspected) throw new Error(inspected.problem);
    const { validators, findings, genesisHash } = inspected.inspection;
    t.same([...validators], manifest.validators.map(({ address }) => address).sort());
    t.equal(genesisHash, manifest.genesisHash);
    t.same(
      findings.filter(({ kind }) => kind === "problem"),
      [],
    );
  },
);

t.test("wallet.json is what the wallet proxy says in /network.json at its own port", async (t) => {
  const { folder, read } = place(t);
  await init("--out", folder);
  const proxy = await startWalletProxy(
    { port: 0, gatewayUrl: "http://127.0.0.1:8540" },
    { apiKey: () => "", logger: pino({ level: "silent" }) },
  );
  t.teardown(() => proxy.stop());
  const said = await (await fetch(`${proxy.url}network.json`)).text();
  t.strictSame(JSON.parse(read("wallet.json")), JSON.parse(said.replaceAll(`:${proxy.port}/`, ":8541/")));
});

t.test("private keys are their owner's alone, and git takes nothing of the folder", async (t) => {
  const { folder, read } = place(t);
  await init("--out", folder);
  const mode = (path: string) => statSync(join(folder, path)).mode & 0o777;
  for (const path of filesOf(folder).filter((path) => /key$|^secrets|rpc-key/.test(path)))
    t.equal(mode(path), 0o600, path);
  for (const path of [".", "validator-1", "accounts", "secrets"]) t.equal(mode(path), 0o700, path);
  t.equal(read(".gitignore"), "*\n");
  t.equal(new Set(["validator-1/key", "validator-2/key", "accounts/faucet.key"].map(read)).size, 3);
});

t.test("a network that is there is never overwritten", async (t) => {
  const { folder, read } = place(t);
  await init("--out", folder);
  const key = read("validator-1/key");
  t.match(await init("--out", folder), { code: 2, err: /is there already and holds .*validator-1.*--force/ });
  t.equal(read("validator-1/key"), key);
});

t.test("with --force it is moved aside, with a time stamp", async (t) => {
  const { folder, read } = place(t);
  await init("--out", folder);
  const key = read("validator-1/key");
  const { code, out } = await init("--out", `${folder}/`, "--force");
  t.equal(code, 0);
  const aside = `${folder}.2026-11-21T10-00-00.000Z`;
  t.ok(out.includes(aside));
  t.equal(readFileSync(join(aside, "validator-1/key"), "utf8"), key);
  t.not(read("validator-1/key"), key);
});

t.test("not even with --force while a validator runs from it", async (t) => {
  const { folder } = place(t);
  await init("--out", folder);
  mkdirSync(join(folder, "native/validator-2"), { recursive: true });
  writeFileSync(join(folder, "native/validator-2/process.json"), "{}");
  t.match(await init("--out", folder, "--force"), {
    code: 2,
    err: /validator-2 .* is running: first .* down --native/,
  });
});

t.test("a folder of somebody else's is left alone; an empty one is taken", async (t) => {
  const { folder } = place(t);
  mkdirSync(folder);
  t.equal((await init("--out", folder)).code, 0);
  writeFileSync(`${folder}-file`, "mine");
  t.match(await init("--out", `${folder}-file`), { code: 2, err: /is not a folder/ });
  t.match(await init("--out", `${folder}-file`, "--force"), { code: 2 });
  t.equal(readFileSync(`${folder}-file`, "utf8"), "mine");
});

t.test(
  "wherever init is killed, there is no network or a whole one, and the next init cleans up",
  async (t) => {
    const { parent, folder } = place(t);
    for (const filesBefore of [0, 7, fileCount - 1]) {
      const child = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", crashingInit, shipped, folder, String(filesBefore)],
        { stdio: "ignore" },
      );
      const [, signal] = await once(child, "close");
      t.equal(signal, "SIGKILL");
      t.notOk(existsSync(folder), `after ${filesBefore} files`);
      t.equal(readdirSync(parent).length, 1, "what it had begun, under another name");
    }
    t.equal((await init("--out", folder)).code, 0);
    t.same(readdirSync(parent), ["network"]);
  },
);

t.test("a write that fails leaves nothing behind", async (t) => {
  const { parent, folder } = place(t);
  const files = [
    { path: "first", content: "written" },
    { path: "x".repeat(300), content: "no file can have such a name" },
  ];
  await t.rejects(writeNetwork({ folder, files, force: false, now }), { code: "ENAMETOOLONG" });
  t.same(readdirSync(parent), []);
});

t.test("the production profile funds no public account and asks for four validators", async (t) => {
  const { folder, read } = place(t);
  t.match(await init("--out", folder, "--profile", "production", "--validators", "3"), {
    code: 2,
    err: /--validators: at least 4/,
  });
  t.equal((await init("--out", folder, "--profile", "production", "--validators", "7")).code, 0);
  t.notMatch(read("genesis.json").toLowerCase(), /f39fd6e51aad88f6f4ce6ab8827279cfffb92266/);
  t.equal(mustManifest(folder).validators.length, 7);
});

t.test("options go before the configuration", async (t) => {
  const { folder, read } = place(t);
  const args = ["--consensus", "qbft", "--chain-id", "1337", "--block-seconds", "3", "--json"];
  const { code, out } = await init("--out", folder, ...args);
  t.equal(code, 0);
  t.match(JSON.parse(out), {
    folder,
    chainId: 1337,
    consensus: "qbft",
    quorum: 4,
    accounts: [
      { name: "treasury", balanceWei: `1${"0".repeat(26)}`, keyFile: "accounts/treasury.key" },
      { name: "faucet" },
    ],
  });
  t.match(JSON.parse(read("genesis.json")), { config: { chainId: 1337, qbft: { blockperiodseconds: 3 } } });
  t.match(JSON.parse(read("wallet.json")), { chainId: "0x539" });
});

t.test("an account of one's own takes the place of a key that would be made", async (t) => {
  const { folder, read } = place(t);
  const address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const out: string[] = [];
  const code = await runGenesis({
    args: ["init", "--config", shipped, "--out", folder, "--profile", "production"],
    env: { TREASURY_ADDRESS: address },
    now,
    print: (text) => out.push(text),
    note: t.fail,
  });
  t.equal(code, 0);
  t.notOk(existsSync(join(folder, "accounts/treasury.key")));
  t.ok(existsSync(join(folder, "accounts/faucet.key")));
  const { alloc } = z
    .object({ alloc: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(read("genesis.json")));
  t.ok(address.toLowerCase() in alloc);
});

t.test("what is wrong is said of the option, or of the configuration's line", async (t) => {
  const { folder } = place(t);
  t.match(await init("--out", folder, "--validators", "five"), {
    code: 2,
    err: /--validators: a whole number/,
  });
  t.match(await init("--out", folder, "--validators", "0"), {
    code: 2,
    err: /--validators: a whole number from 1 to 32/,
  });
  t.match(await init("--out", folder, "--consensus", "clique"), { code: 2, err: /--consensus: / });
  t.match(await init("--out", folder, "--block-seconds", "4"), {
    code: 2,
    err: /requestTimeoutSeconds: more than/,
  });
  t.match(await init("--validaters", "5"), { code: 2, err: /Did you mean --validators\?/ });
  const file = join(t.testdirName, "bad.yaml");
  writeFileSync(file, "chainId: 8845\nnode:\n  storage: florest\n");
  t.match(await init("--config", file), { code: 2, err: /more than once/ });
  t.match(await runIn(file), /bad\.yaml:3: node\.storage/);
  t.notOk(existsSync(folder));
});

async function runIn(config: string): Promise<string> {
  const err: string[] = [];
  await runGenesis({
    args: ["init", "--config", config],
    env: {},
    now,
    print: () => {},
    note: (text) => err.push(text),
  });
  return err.join("\n");
}

function mustManifest(folder: string) {
  const read = readManifest(folder);
  if ("problem" in read) throw new Error(read.problem);
  return read.manifest;
}
