import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";

export type AnvilProcess = { url: string; kill: () => Promise<void> };

const startsMax = 5;
const startWithinMs = 10_000;

/**
 * Starts an anvil that mines only when told, with the network's numbers: no base fee, price 0 accepted, Cancun,
 * 30 M gas, the ten public development accounts with 1 000 000 tokens each.
 *
 * `genesisTimestampSeconds` alone decides the genesis hash: the same number gives the same chain, another one a
 * foreign chain.
 */
export async function startAnvilProcess(options: {
  chainId: number;
  genesisTimestampSeconds: number;
}): Promise<AnvilProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const started = await startOnce(options);
    if (started !== undefined) return started;
    if (attempt === startsMax) throw new Error(`anvil did not start in ${startsMax} attempts`);
  }
}

/**
 * Turns the shell into anvil, and leaves a watcher that kills it and removes its states once standard input ends. So
 * it ends with this process however that ends: a test that runs into its time limit is killed and runs no teardown.
 */
const endWithParent = 'exec 3<&0; (cat <&3 >/dev/null; kill -9 $$; rm -rf "$0") & exec "$@" 3<&- </dev/null';

async function startOnce(options: { chainId: number; genesisTimestampSeconds: number }) {
  const port = await reservePort();
  // anvil writes old states to disk once it holds many; a killed one would leave them behind.
  const cachePath = await mkdtemp(join(tmpdir(), "anvil-states-"));
  const command = [anvilBinary(), ...anvilArguments({ ...options, port, cachePath })];
  const child = spawn("/bin/sh", ["-c", endWithParent, cachePath, ...command], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const exited = once(child, "exit");
  exited.catch(() => {});
  const url = `http://127.0.0.1:${port}`;
  const kill = async () => {
    child.stdin.destroy();
    await exited;
    await rm(cachePath, { recursive: true, force: true });
  };

  const giveUpAt = Date.now() + startWithinMs;
  while (child.exitCode === null && Date.now() < giveUpAt) {
    // The port may have been taken by another process meanwhile: then this child exits and another port is tried.
    if ((await isAnvil(url)) && child.exitCode === null) return { url, kill };
    await sleep(10);
  }
  await kill();
  return undefined;
}

function anvilArguments(options: {
  chainId: number;
  genesisTimestampSeconds: number;
  port: number;
  cachePath: string;
}): string[] {
  return [
    ...["--host", "127.0.0.1", "--port", String(options.port), "--chain-id", String(options.chainId)],
    ...[
      "--timestamp",
      String(options.genesisTimestampSeconds),
      "--hardfork",
      "cancun",
      "--gas-limit",
      "30000000",
    ],
    ...["--block-base-fee-per-gas", "0", "--gas-price", "0", "--disable-min-priority-fee"],
    ...["--no-mining", "--order", "fifo", "--balance", "1000000", "--no-request-size-limit"],
    ...["--cache-path", options.cachePath, "--quiet"],
  ];
}

/**
 * The program itself, not the package's launcher: the launcher is a process of its own, and killing it with SIGKILL
 * leaves the program running.
 */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const launcher = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${architecture}/package.json`;
  return join(dirname(launcher.resolve(platformPackage)), "bin", "anvil");
}

async function isAnvil(url: string): Promise<boolean> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion","params":[]}';
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return (await response.text()).includes("anvil");
  } catch {
    return false;
  }
}
