import { readNetworkConfig } from "../../../genesis/config.ts";
import { readManifest } from "../../../genesis/manifest.ts";
import type { SingleProgram } from "../../../lib/cli/command.ts";
import { type Read, readProgram } from "../../../lib/cli/read-program.ts";
import { portNumber } from "../../../lib/cli/values.ts";
import { hostNames } from "../../../lib/config/schemas.ts";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { firstStopSignal } from "../../../lib/service/stop-signals.ts";
import { start } from "./start.ts";

const program: SingleProgram = {
  invocation: "node scripts/network/exporter/main.ts",
  summary: "Metrics of the validators, for Prometheus.",
  options: {
    folder: { value: "DIR", text: "the network's folder", default: "network" },
    config: { value: "FILE", text: "the network's configuration", default: "config/network.yaml" },
    host: { value: "HOST", text: "where it listens", default: "127.0.0.1" },
    port: { value: "PORT", text: "where it listens", default: "9560" },
    hosts: {
      value: "NAMES",
      text: "names, with commas, by which others reach it: it answers to no other Host but loopback and its address",
    },
  },
};

const read = readProgram(program, process.argv.slice(2), ({ need, needText, read: optional }) => ({
  folder: needText("folder"),
  config: needText("config"),
  host: needText("host"),
  port: need("port", portNumber({ min: 0 })),
  hosts: optional("hosts", readHosts) ?? [],
}));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") end(exitCodes.unusable, read.text);
else await run(read.options);

async function run({
  folder,
  config,
  ...listener
}: {
  folder: string;
  config: string;
  host: string;
  port: number;
  hosts: string[];
}): Promise<void> {
  const network = readManifest(folder);
  if ("problem" in network) return end(exitCodes.failed, `${network.problem}\n`);
  const { manifest } = network;
  const { status } = readNetworkConfig({ file: config, env: process.env });
  const server = await start({ manifest, status, ...listener }, { now: Date.now });
  await firstStopSignal();
  await server.stop();
}

function readHosts(text: string): Read<string[]> {
  const { data } = hostNames.safeParse(text);
  return data === undefined ? { expected: "hosts' names without ports, with commas," } : { value: data };
}

function end(exitCode: number, text: string): void {
  process.stderr.write(text);
  process.exitCode = exitCode;
}
