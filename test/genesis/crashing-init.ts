import { kill, pid } from "node:process";
import { readNetworkConfig } from "../../genesis/config.ts";
import { type NetworkFile, planNetwork } from "../../genesis/network-files.ts";
import { createNodeKey } from "../../genesis/node-key.ts";
import { writeNetwork } from "../../genesis/write-network.ts";

/** `crashing-init.ts CONFIG FOLDER COUNT`: writes a network and is killed once COUNT files are written. */
const [config = "", folder = "", count = ""] = process.argv.slice(2);
const plan = planNetwork({ config: readNetworkConfig({ file: config, env: {} }), createKey: createNodeKey });

function* untilKilled(): Iterable<NetworkFile> {
  for (const [index, file] of plan.files.entries()) {
    if (index === Number(count)) kill(pid, "SIGKILL");
    yield file;
  }
}

await writeNetwork({ folder, files: untilKilled(), force: false, now: () => new Date() });
