import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { runNetwork } from "../../../scripts/network/run-network.ts";
import { processIdentity } from "../../../scripts/processes/process-identity.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork, runningOf } from "./rig.ts";

const main = fileURLToPath(new URL("../../../scripts/network/main.ts", import.meta.url));
const five = [1, 2, 3, 4, 5];

t.test("before anything runs", async (t) => {
  const { folder, network, networkWith, env, portBase, pidOf } = await makeNetwork(t);
  const noneRuns = async () => t.same(await runningOf(five.map(pidOf)), [], "nothing was left running");

  await t.test("BESU_HOME is asked for, and looked at", async (t) => {
    const { BESU_HOME: home, ...rest } = env;
    t.match(await networkWith({ env: rest, args: ["up"] }), { code: 1, err: /BESU_HOME is not set/ });
    const elsewhere = { ...rest, BESU_HOME: join(home, "bin") };
    t.match(await networkWith({ env: elsewhere, args: ["up"] }), {
      code: 1,
      err: /there is no program .*bin.bin.besu/,
    });
  });

  await t.test("a port that is taken is named with who has it", async (t) => {
    const server = createServer().listen(portBase + 21, "127.0.0.1");
    await once(server, "listening");
    const { code, err } = await network("up");
    t.equal(code, 1);
    t.match(err, `port ${portBase + 21} (validator-2, WebSockets) is taken by process ${process.pid}`);
    t.match(err, /NATIVE_PORT_BASE/);
    server.close();
    await noneRuns();
  });

  await t.test("a validator's key must be there, and be the one of the genesis block", async (t) => {
    const file = join(folder, "validator-3", "key");
    const key = readFileSync(file, "utf8");
    writeFileSync(file, `0x${"11".repeat(32)}\n`);
    t.match(await network("up"), { code: 1, err: /is not the key of validator-3, whose address is 0x/ });
    rmSync(file);
    t.match(await network("up"), { code: 1, err: /validator-3 has no key/ });
    writeFileSync(file, key);
    await noneRuns();
  });

  await t.test("what Besu refuses is shown in its own words, and nothing is left running", async (t) => {
    const file = join(folder, "validator-5", "config.toml");
    const config = readFileSync(file, "utf8");
    appendFileSync(file, "rpc-http-max-conections=5\n");
    t.match(await network("up"), {
      code: 1,
      err: /validator-5 has ended; what was started is stopped again.*Unknown option in TOML configuration file: rpc-http-max-conections/s,
    });
    writeFileSync(file, config);
    await noneRuns();
  });

  await t.test("a process that was not started from here is never stopped", async (t) => {
    const stranger = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    t.teardown(() => stranger.kill("SIGKILL"));
    const record = join(folder, "native", "validator-1", "process.json");
    mkdirSync(join(folder, "native", "validator-1"), { recursive: true });
    writeFileSync(record, JSON.stringify({ pid: stranger.pid, identity: "of a process before" }));
    t.match(await network("down"), { code: 0, out: "No validator was running." });
    t.same(await runningOf([stranger.pid]), [stranger.pid]);
    const identity = await processIdentity(stranger.pid ?? 0);
    writeFileSync(record, JSON.stringify({ pid: stranger.pid, identity }));
    t.match(await network("down"), { code: 0, out: "Stopped: validator-1." });
    t.equal(await processIdentity(stranger.pid ?? 0), undefined, "with its identity it counts as ours");
  });

  await t.test("the command line is read strictly", async (t) => {
    t.match(await network("stop"), { code: 2, err: /N is missing/ });
    t.match(await network("stop", "6"), { code: 2, err: /no validator 6: 1, 2, 3, 4, 5 were expected/ });
    t.match(await network("recvoer"), { code: 2, err: /Did you mean recover\?/ });
    t.match(await network("logs", "--lines", "many"), { code: 2, err: /--lines: a whole number/ });
    t.match(await network("up", "--nativ"), { code: 2, err: /Did you mean --native\?/ });
    t.match(await network("--help"), {
      code: 0,
      out: /up .*down .*status .*logs .*stop N .*start N .*wipe N .*recover/s,
    });
  });
});

t.test("without a network, or with one that was changed by hand, nothing is run", async (t) => {
  const err: string[] = [];
  const { folder, configFile } = await makeNetwork(t);
  const run = (...args: string[]) =>
    runNetwork({
      args: [...args, "--config", configFile],
      env: {},
      now: Date.now,
      signal: new AbortController().signal,
      progress: { show: () => {}, end: () => {} },
      print: () => {},
      note: (text) => err.push(text),
    });
  t.equal(await run("up", "--native", "--folder", join(folder, "nowhere")), 1);
  t.match(err.pop(), /There is no network in .*npm run genesis -- init --out/);
  writeFileSync(join(folder, "network.json"), "{}");
  t.equal(await run("up", "--native", "--folder", folder), 1);
  t.match(err.pop(), /changed by hand/);
});

t.test("Ctrl-C during up leaves nothing running", async (t) => {
  const { folder, configFile, env, pidOf, network } = await makeNetwork(t);
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      main,
      "up",
      "--native",
      "--folder",
      folder,
      "--config",
      configFile,
    ],
    { env, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = once(child, "close");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await waitFor(
    "validator-5 is starting, or the program has ended",
    () => said.includes("validator-5 is starting") || child.exitCode !== null,
  );
  const pids = five.map(pidOf);
  t.equal((await runningOf(pids)).length, 5, "all of them had been started");
  child.kill("SIGINT");
  await ended;
  t.equal(child.exitCode, 130);
  t.match(said, /it was interrupted; what was started is stopped again/);
  t.same(await runningOf(pids), []);
  t.match(await network("status"), { code: 1, out: /validator-1 +stopped/ });
});
