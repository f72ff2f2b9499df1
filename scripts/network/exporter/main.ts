import { parseArgs } from "node:util";
import { readNetworkConfig } from "../../../genesis/config.ts";
import { readManifest } from "../../../genesis/manifest.ts";
import { hostNames } from "../../../lib/config/schemas.ts";
import { start } from "./start.ts";

/**
 * `node scripts/network/exporter/main.ts --folder network --host 0.0.0.0 --port 9560`: metrics of the validators. `--hosts`
 * are names, with commas, by which others reach it: it answers to no other Host but loopback and its address.
 */
const { values } = parseArgs({
  options: {
    folder: { type: "string", default: "network" },
    config: { type: "string", default: "config/network.yaml" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "9560" },
    hosts: { type: "string", default: "" },
  },
});
const read = readManifest(values.folder);
if ("problem" in read) {
  process.stderr.write(`${read.problem}\n`);
  process.exit(1);
}
const { status } = readNetworkConfig({ file: values.config, env: process.env });
const { manifest } = read;
const server = await start(
  {
    manifest,
    status,
    host: values.host,
    port: Number(values.port),
    hosts: hostNames.parse(values.hosts),
  },
  { now: Date.now },
);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void server.stop());
