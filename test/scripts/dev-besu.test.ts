import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HDNodeWallet, Wallet } from "ethers";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { parseDocument } from "yaml";
import { z } from "zod";
import { readManifest } from "../../genesis/manifest.ts";
import { openNativeNodes } from "../../scripts/network/native/native-nodes.ts";
import { placeStandIn } from "../fakes/besu-stand-in/place-stand-in.ts";
import { productionFees } from "../helpers/fee-environment.ts";
import { startRedis } from "../helpers/redis.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { claimConfirmed, postClaim } from "./dev-claims.ts";
import { startDev, startedDev, stillRunning } from "./dev-rig.ts";
import { freePortBase } from "./network/rig.ts";

const five = [1, 2, 3, 4, 5];
const block = z.object({ hash: z.string() });
const status = z.object({ validators: z.array(z.unknown()) });

/** A folder for npm start, a quick network's configuration, and Besu's stand-in. */
async function place(t: Test) {
  const folder = testFolder(t, {});
  const networkFile = join(folder, "network.yaml");
  const portBase = await freePortBase();
  writeFileSync(
    networkFile,
    `blockSeconds: 1\nrequestTimeoutSeconds: 2\nnative: { portBase: ${portBase} }\n`,
  );
  return {
    folder,
    portBase,
    args: ["--besu", "--network", networkFile],
    env: { BESU_HOME: placeStandIn(join(folder, "besu")), STAND_IN_OWNER_PID: String(process.pid) },
  };
}

async function nodesOf({ folder, env }: { folder: string; env: Readonly<Record<string, string>> }) {
  const network = join(folder, ".data/besu/network");
  const read = readManifest(network);
  if ("problem" in read) throw new Error(read.problem);
  const { manifest } = read;
  return openNativeNodes({ folder: network, manifest, portBase: 0, env: { ...process.env, ...env } });
}

t.test("npm start -- --besu: five validators in the place of anvil", async (t) => {
  const { portBase, args, ...where } = await place(t);
  const first = await startedDev(t, { ...where, args });
  const children = await first.children();
  const genesisOf = async (dev: typeof first) =>
    block.parse(await dev.chain("eth_getBlockByNumber", ["0x0", false])).hash;
  const genesis = await genesisOf(first);

  await t.test("it makes a network, says how it comes up, and prints where each of them is", async (t) => {
    t.notOk("chain" in children, "no anvil");
    for (const number of five) t.ok(`validator-${number}` in children);
    t.match(first.printed(), /A network of 5 validators has been made in .*\.data\/besu\/network\./);
    t.match(first.printed(), /besu {5}│ validator-3 is starting[\s\S]*besu {5}│ block \d+ after \d+ s/);
    for (const number of five) t.match(first.printed(), `http://127.0.0.1:${portBase + 10 * number}`);
  });

  await t.test("the gateway asks all five; the wallet proxy and the internal RPC are there", async (t) => {
    const read = await fetch(`http://127.0.0.1:${first.ports.ops}/status`);
    t.equal(status.parse(await read.json()).validators.length, 5);
    t.equal(await first.gateway("eth_chainId"), "0x228d");
    t.match(await first.gateway("eth_getBlockByNumber", ["0x0", false]), { hash: genesis });
    const network = await fetch(`http://127.0.0.1:${first.ports.wallet}/network.json`);
    t.match(await network.json(), { chainId: "0x228d" });
    t.match(await first.chain("web3_clientVersion"), /^besu/);
    // Besu has another port for these.
    const socket = new WebSocket(`ws://127.0.0.1:${first.ports.chain}/`);
    await once(socket, "open");
    socket.send('{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion","params":[]}');
    t.match(JSON.parse(String((await once(socket, "message"))[0])), { id: 1, result: /^besu/ });
    socket.terminate();
  });

  await t.test("one that is killed ends nothing else", async (t) => {
    // The first, which internal RPC and faucet ask until then.
    process.kill(children["validator-1"] ?? 0, "SIGKILL");
    t.same(await stillRunning({ "validator-1": children["validator-1"] ?? 0 }), []);
    await first.prints("internal RPC and faucet: validator-1 does not keep up or does not answer");
    t.match(await first.chain("web3_clientVersion"), /^besu/);
    const at = Number(await first.gateway("eth_blockNumber"));
    // Two more, of which one at least was not under way.
    await waitFor(
      "two more blocks are there",
      async () => Number(await first.gateway("eth_blockNumber")) >= at + 2,
      // The key has a hundred calls a minute.
      { everyMs: 500 },
    );
    t.pass("the chain goes on");
    const { status, claim } = await postClaim(`http://127.0.0.1:${first.ports.faucet}/claim`);
    t.equal(status, 202);
    await claimConfirmed(first, claim?.id);
  });

  await t.test("Ctrl-C ends all of it, and a second start resumes", async (t) => {
    const at = Number(await first.chain("eth_blockNumber"));
    first.signal("SIGINT");
    t.same(await first.ended, { code: 0, signal: null });
    t.same(await stillRunning(children), []);
    const second = await startedDev(t, { ...where, args });
    t.equal(await genesisOf(second), genesis);
    t.ok(Number(await second.chain("eth_blockNumber")) > at);
    // As the command line does (npm run network -- stop 2 --native, start 2): another process, which nobody told npm start of.
    const before = (await second.children())["validator-2"];
    const nodes = await nodesOf(where);
    await nodes.stop("validator-2");
    t.equal(await nodes.start(["validator-2"]), undefined);
    await waitFor(
      "validator-2 is another process",
      async () => (await second.children())["validator-2"] !== before,
    );
    const again = await second.children();
    t.equal(again["validator-2"], await nodes.pidOf("validator-2"));
    second.signal("SIGKILL");
    await second.ended;
    t.same(await stillRunning(again), [], "not even kill -9 leaves a validator");
  });

  await t.test("--reset makes another network, and Ctrl-C on its way up leaves nothing", async (t) => {
    const third = await startDev(t, { ...where, args: [...args, "--reset"] });
    await third.prints("validator-5 is starting");
    const started = await third.children();
    t.ok("validator-5" in started);
    third.signal("SIGINT");
    t.same(await third.ended, { code: 0, signal: null });
    t.same(await stillRunning(started), []);
    t.match(third.printed(), "A network of 5 validators has been made");
    t.notMatch(third.printed(), "npm start: ");
  });
});

t.test("with a gateway of the production profile claims are paid while validator 1 is dead", async (t) => {
  const { args, env, ...where } = await place(t);
  const [redis, production] = [await startRedis(t), await productionFiles(where.folder)];
  const all = { ...env, ...production.env, REDIS_URL: redis.url };
  const key = ["--permissions", "rpc", "--team", "core"];
  for (const words of [
    ["team", "set", "core"],
    ["create", ...key],
  ]) {
    const made = await runCommand(t, {
      program: process.execPath,
      args: [
        "--disable-warning=ExperimentalWarning",
        "scripts/keys/main.ts",
        ...[...words, "--config", production.gatewayFile],
      ],
      env: { ...process.env, ...all },
    });
    t.equal(made.code, 0, made.lines.join("\n"));
  }
  const dev = await startedDev(t, { ...where, args: [...args, ...production.args], env: all });
  t.notMatch(dev.printed(), "internal RPC");
  process.kill((await dev.children())["validator-1"] ?? 0, "SIGKILL");
  await dev.prints("validator-1 does not keep up or does not answer");
  const { status, claim } = await postClaim(`http://127.0.0.1:${dev.ports.faucet}/claim`);
  t.equal(status, 202);
  await claimConfirmed(dev, claim?.id);
});

/** Configurations without what the production profile refuses, and a keystore of an account that has tokens. */
async function productionFiles(folder: string) {
  const edited = (name: string, path: readonly string[]) => {
    const document = parseDocument(readFileSync(new URL(`../../config/${name}`, import.meta.url), "utf8"));
    document.deleteIn(path);
    writeFileSync(join(folder, name), String(document));
    return join(folder, name);
  };
  const wallet = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");
  const [keystore, password] = [join(folder, "keystore.json"), join(folder, "password")];
  writeFileSync(keystore, await new Wallet(wallet.privateKey).encrypt("secret"));
  writeFileSync(password, "secret\n", { mode: 0o600 });
  const methods = "methods.yaml";
  writeFileSync(join(folder, methods), readFileSync(new URL(`../../config/${methods}`, import.meta.url)));
  const gatewayFile = edited("gateway.yaml", ["keys"]);
  return {
    gatewayFile,
    args: ["--config", gatewayFile, "--faucet", edited("faucet.yaml", ["wallet", "developmentKey"])],
    env: {
      ...productionFees,
      TOLLGATE_PROFILE: "production",
      API_ORIGINS: "https://explorer.example,https://www.example",
      FAUCET_KEYSTORE: keystore,
      FAUCET_KEYSTORE_PASSWORD_FILE: password,
      FAUCET_ALLOWLIST: fileURLToPath(new URL("../../config/faucet-allowlist.yaml", import.meta.url)),
    },
  };
}

t.test("without a Besu it says what to set, before anything is begun", async (t) => {
  const { args, folder } = await place(t);
  const dev = await startDev(t, { folder, args, env: { BESU_HOME: "" } });
  t.same(await dev.ended, { code: 2, signal: null });
  t.match(dev.printed(), /npm start -- --besu: BESU_HOME is not set\. It names .* unpacked Besu/);
  t.notOk(existsSync(join(folder, ".data")));
});

t.test("a port of a validator that is taken ends everything, with who has it", async (t) => {
  const { portBase, ...where } = await place(t);
  const holder = createServer().listen(portBase + 31, "127.0.0.1");
  await once(holder, "listening");
  t.teardown(() => holder.close());
  const dev = await startDev(t, where);
  t.same(await dev.ended, { code: 1, signal: null });
  t.match(
    dev.printed(),
    `port ${portBase + 31} (validator-3, WebSockets) is taken by process ${process.pid}`,
  );
});
