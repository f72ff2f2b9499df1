import { join } from "node:path";
import { operatorPublicKeyFile } from "../../../genesis/operator-token.ts";

export type NativePorts = { http: number; ws: number; metrics: number; peer: number };

export const loopback = "127.0.0.1";
const portsPerNode = 10;

/** The ports of a slot (from 0): validator N of a new network has slot N - 1, so its tens digit is N where `portBase` ends in 00. */
export function nativePorts(portBase: number, slot: number): NativePorts {
  const first = portBase + portsPerNode * (slot + 1);
  return { http: first, ws: first + 1, metrics: first + 2, peer: first + 3 };
}

/**
 * Besu's arguments for a validator as a process of this machine: the containers' config.toml, and the options that
 * differ. Besu's command line overrides the file.
 */
export function besuArguments({
  folder,
  name,
  dataFolder,
  staticNodesFile,
  ports,
}: {
  /** The network's folder. */
  folder: string;
  name: string;
  dataFolder: string;
  staticNodesFile: string;
  ports: NativePorts;
}): string[] {
  return [
    `--config-file=${join(folder, name, "config.toml")}`,
    `--data-path=${dataFolder}`,
    `--genesis-file=${join(folder, "genesis.json")}`,
    `--node-private-key-file=${join(folder, name, "key")}`,
    `--static-nodes-file=${staticNodesFile}`,
    `--rpc-http-authentication-jwt-public-key-file=${join(folder, operatorPublicKeyFile)}`,
    `--rpc-ws-authentication-jwt-public-key-file=${join(folder, operatorPublicKeyFile)}`,
    // The list of allowed peers has the containers' addresses in it.
    "--permissions-nodes-config-file-enabled=false",
    `--p2p-host=${loopback}`,
    `--p2p-interface=${loopback}`,
    `--p2p-port=${ports.peer}`,
    `--rpc-http-host=${loopback}`,
    `--rpc-http-port=${ports.http}`,
    `--rpc-ws-host=${loopback}`,
    `--rpc-ws-port=${ports.ws}`,
    `--metrics-host=${loopback}`,
    `--metrics-port=${ports.metrics}`,
  ];
}

/**
 * The environment for Besu, without the caller's BESU_… variables: they are options too, and would override
 * config.toml.
 */
export function besuEnvironment({
  env,
  javaMemoryMb,
}: {
  env: Readonly<Record<string, string | undefined>>;
  javaMemoryMb: number;
}): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("BESU_"));
  const given = env["BESU_OPTS"] ?? "";
  return {
    ...Object.fromEntries(kept),
    BESU_OPTS: `-Xmx${javaMemoryMb}m -XX:+ExitOnOutOfMemoryError ${given}`.trimEnd(),
  };
}
