import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { JsonRpcProvider } from "ethers";
import t from "tap";
import { z } from "zod";
import { packWalletProxy } from "../../../scripts/release/wallet-proxy/pack.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { runCommand, writeKey } from "../../gateway/wallet-proxy/command-rig.ts";
import { ask } from "../../gateway/wallet-proxy/rig.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const archiveBytesMax = 400_000;
const installedBytesMax = 3_000_000;
const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  scripts: z.record(z.string(), z.string()).optional(),
});

/** Other Node.js of this machine, beside the one that runs the tests: an installed package meets any. */
function otherNodes(): string[] {
  const found = ["/usr/bin/node", "/usr/local/bin/node"].filter((file) => {
    try {
      return Number(/^v(\d+)/.exec(execFileSync(file, ["--version"], { encoding: "utf8" }))?.[1]) >= 20;
    } catch {
      return false;
    }
  });
  return found;
}

t.test("the package of the wallet proxy", async (t) => {
  const folder = testFolder(t);
  const archive = await packWalletProxy({ root, out: join(folder, "packed") });
  const project = join(folder, "project");
  mkdirSync(project);
  // A registry that refuses all: whatever the package needs is in it.
  const npm = (command: string, ...args: string[]) => {
    const flags = [
      "--offline",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--cache",
      join(folder, "cache"),
    ];
    return run("npm", [command, ...flags, ...args], { cwd: project });
  };
  await npm("install", "--prefix", project, archive);
  const installed = join(project, "node_modules", "tollgate-wallet-proxy");
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });

  t.test("is small, and the same to the byte each time", async (t) => {
    t.ok(statSync(archive).size < archiveBytesMax, `${statSync(archive).size} bytes`);
    const bytes = files.reduce((sum, file) => sum + statSync(join(installed, file)).size, 0);
    t.ok(bytes < installedBytesMax, `${bytes} bytes in ${files.length} files`);
    const digest = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    t.equal(digest(await packWalletProxy({ root, out: join(folder, "again") })), digest(archive));
  });

  t.test("has nothing for single platforms, nothing that runs at install, and no TypeScript", async (t) => {
    t.same(
      files.filter((file) => /\.(?:node|ts|gyp|exe|dll|so|dylib)$/.test(file)),
      [],
    );
    for (const file of files.filter((name) =>
      /(?:^|node_modules\/(?:@[^/]+\/)?[^/@]+\/)package\.json$/.test(name),
    )) {
      const { optionalDependencies, scripts = {} } = manifestSchema.parse(
        JSON.parse(readFileSync(join(installed, file), "utf8")),
      );
      t.same(optionalDependencies ?? {}, {}, file);
      t.same(
        Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name)),
        [],
        file,
      );
    }
    t.same(
      readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith(".")),
      ["tollgate-wallet-proxy"],
    );
    const licences = files.filter((file) => /node_modules\/.*licen[cs]e[^/]*$/i.test(file));
    t.ok(licences.length >= 20, "the licences of what is in it come with it");
  });

  t.test("npx runs its command from the archive, and asks no registry", async (t) => {
    const { stdout } = await npm(
      "exec",
      "--yes",
      `--package=${archive}`,
      "--",
      "tollgate-wallet-proxy",
      "--help",
    );
    t.match(stdout, /^Usage: tollgate-wallet-proxy --gateway URL/);
  });

  t.test("a wallet's library uses a gateway through it, with each Node.js of this machine", async (t) => {
    const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
    const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
    const args = [
      "--gateway",
      gateway.url.slice(0, -1),
      "--key-file",
      writeKey(t, { text: coreKey }),
      "--port",
      "0",
    ];
    const main = join(installed, "gateway/wallet-proxy/main.js");
    for (const program of [process.execPath, ...otherNodes()]) {
      const command = runCommand(t, args, { program, programArgs: [main] });
      const port = await command.port();
      t.match(await ask(port), { status: 200, body: '"result"' }, program);
      t.match((await ask(port, { method: "GET" })).body, "<title>Add the network", program);
      t.equal((await ask(port, { method: "GET", path: "/page.css" })).status, 200, program);
      t.equal((await ask(port, { method: "GET", path: "/wallet-button.js" })).status, 200, program);
      const provider = new JsonRpcProvider(`http://127.0.0.1:${port}/`, 8845, { staticNetwork: true });
      t.equal(typeof (await provider.send("eth_blockNumber", [])), "string", program);
      provider.destroy();
      command.kill("SIGTERM");
      const { output } = await command.ended;
      t.notMatch(output, /Warning/, program);
    }
  });

  t.test("tells what is wrong with a command line, and ends with 2", async (t) => {
    const main = join(installed, "gateway/wallet-proxy/main.js");
    const { code, output } = await runCommand(t, ["--gateway", "http://127.0.0.1:1"], { programArgs: [main] })
      .ended;
    t.equal(code, 2);
    t.match(output, "--key-file is missing");
  });
});
