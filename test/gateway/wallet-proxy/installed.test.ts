import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { testFolder } from "../../helpers/test-folder.ts";
import { runCommand, writeKey } from "./command-rig.ts";
import { ask, startTarget } from "./rig.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));

t.test("the command of the installed package", async (t) => {
  // What npm would publish, where npm would put it: Node.js strips no types there. The packages that it needs are found
  // further up.
  const folder = testFolder(t);
  const [packed, installed] = [join(folder, "packed"), join(folder, "node_modules/tollgate")];
  for (const made of [packed, installed]) mkdirSync(made, { recursive: true });
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", packed], {
    cwd: root,
  });
  const archive = join(packed, stdout.trim());
  await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  const launcher = join(installed, "gateway/wallet-proxy/bin/tollgate-wallet-proxy.js");
  const runInstalled = (args: readonly string[]) => runCommand(t, args, { programArgs: [launcher] });

  t.test("serves JSON-RPC and its page, and ends with its launcher", async (t) => {
    const target = await startTarget(t);
    const args = ["--gateway", target.url, "--key-file", writeKey(t), "--port", "0"];
    const command = runInstalled(args);
    const port = await command.port();
    t.equal((await ask(port)).status, 200);
    t.match((await ask(port, { method: "GET" })).body, "<title>Add the network");
    t.equal(target.requests.length, 1);
    command.kill("SIGTERM");
    const { code, output } = await command.ended;
    t.equal(code, 0);
    t.notMatch(output, "Warning");
    const [refused] = await once(connect({ port, host: "127.0.0.1" }), "error");
    t.match(refused, { code: "ECONNREFUSED" });
  });

  t.test("passes an exit code on", async (t) => {
    const { code, output } = await runInstalled(["--gateway", "http://127.0.0.1:1"]).ended;
    t.equal(code, 2);
    t.match(output, "--key-file is missing");
  });
});
