import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { z } from "zod";
import { processIdentity } from "../../scripts/processes/process-identity.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { startParentWatch } from "../../scripts/processes/watch-parent.ts";
import { createDatabase } from "../helpers/postgres.ts";
import { waitFor } from "../helpers/wait-for.ts";

export type DevPorts = {
  gateway: number;
  ops: number;
  chain: number;
  wallet: number;
  faucet: number;
  faucetOps: number;
  api: number;
  apiOps: number;
};

export type DevUnderTest = {
  pid: number;
  ports: DevPorts;
  /** All that it has printed so far. */
  printed(): string;
  /** Resolves when the text has been printed; rejects when it ended without it. */
  prints(text: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  signal(name: NodeJS.Signals): void;
  /** The children that it started, by name. */
  children(): Promise<Readonly<Record<string, number>>>;
  chain(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Asks the gateway with a development key. */
  gateway(method: string, params?: readonly unknown[]): Promise<unknown>;
  redisUrl(): Promise<string>;
};

const main = fileURLToPath(new URL("../../scripts/dev/main.ts", import.meta.url));
const shippedConfig = fileURLToPath(new URL("../../config/gateway.yaml", import.meta.url));
const shippedApi = fileURLToPath(new URL("../../config/api.yaml", import.meta.url));
const shippedFaucet = fileURLToPath(new URL("../../config/faucet.yaml", import.meta.url));
export const coreKey = "tg_dev_DJ06vWzksST9RjoXb9CKPNiGgAEaFqpksDgNgWrWXMW0Sm5ru";
const lastPrinted = "Ctrl-C stops everything";
/** `npm start` brings up six programs, one after the other. */
const printsWithinMs = 120_000;
const goneWithinMs = 45_000;

const runningFile = z.object({ children: z.array(z.object({ name: z.string(), pid: z.number() })) });
const rpcAnswer = z.object({ result: z.unknown() });

export async function freePorts(): Promise<DevPorts> {
  return {
    gateway: await reservePort(),
    ops: await reservePort(),
    chain: await reservePort(),
    wallet: await reservePort(),
    faucet: await reservePort(),
    faucetOps: await reservePort(),
    api: await reservePort(),
    apiOps: await reservePort(),
  };
}

const shippedFiles = ["--config", shippedConfig, "--faucet", shippedFaucet, "--api", shippedApi];

/** `npm start` in a folder of the test's own: the shipped configuration on free ports. Killed when the test ends. */
export async function startDev(
  t: Test,
  {
    folder,
    args = [],
    env = {},
    ports,
    postgres = "given",
  }: {
    folder: string;
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    ports?: DevPorts;
    /** One that npm start makes itself takes a second of a processor; most tests are not about it. */
    postgres?: "given" | "own";
  },
): Promise<DevUnderTest> {
  const used = ports ?? (await freePorts());
  const { REDIS_URL: _redis, POSTGRES_URL: _postgres, FORCE_COLOR: _colour, ...inherited } = process.env;
  const database =
    postgres === "own" ? {} : { POSTGRES_URL: await createDatabase(t, { migrations: "none" }) };
  const ownOptions = ["--chain-port", String(used.chain), "--wallet-port", String(used.wallet)];
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", main, ...shippedFiles, ...ownOptions, ...args],
    {
      cwd: folder,
      env: {
        ...inherited,
        NO_COLOR: "1",
        GATEWAY_PORT: String(used.gateway),
        GATEWAY_OPS_PORT: String(used.ops),
        FAUCET_PORT: String(used.faucet),
        FAUCET_OPS_PORT: String(used.faucetOps),
        API_PORT: String(used.api),
        API_OPS_PORT: String(used.apiOps),
        FAUCET_PRIVATE_PORT: String(await reservePort()),
        ...database,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  let over = false;
  const ended = once(child, "close").then(() => {
    over = true;
    return { code: child.exitCode, signal: child.signalCode };
  });
  const { pid = 0 } = child;
  // A test that is killed for taking too long has no teardown.
  const watch = await startParentWatch();
  watch.remember(pid);
  t.teardown(async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), goneWithinMs);
    await ended;
    clearTimeout(late);
    watch.forget(pid);
    await watch.stop();
  });
  return {
    pid,
    ports: used,
    printed: () => text,
    async prints(expected) {
      await waitFor(
        `it prints "${expected}"`,
        () => {
          if (over) throw new Error(`it ended without printing "${expected}":\n${text}`);
          return text.includes(expected);
        },
        { withinMs: printsWithinMs },
      );
    },
    ended,
    signal: (name) => void child.kill(name),
    async children() {
      const file = await readFile(join(folder, ".data/running.json"), "utf8");
      const { children } = runningFile.parse(JSON.parse(file));
      return Object.fromEntries(children.map((child) => [child.name, child.pid]));
    },
    chain: (method, params = []) => ask({ url: `http://127.0.0.1:${used.chain}/`, method, params }),
    gateway: (method, params = []) => ask({ url: `http://127.0.0.1:${used.gateway}/`, method, params }),
    redisUrl: async () => (await readFile(join(folder, ".data/redis/url"), "utf8")).trim(),
  };
}

/** As `startDev`, and waits for the table. */
export async function startedDev(t: Test, options: Parameters<typeof startDev>[1]): Promise<DevUnderTest> {
  const dev = await startDev(t, options);
  await dev.prints(lastPrinted);
  return dev;
}

/** Waits until none of the processes runs any more; the names of those that stay. */
export async function stillRunning(children: Readonly<Record<string, number>>): Promise<string[]> {
  let alive = Object.keys(children);
  const looked = waitFor("all children have ended", async () => {
    const identities = await Promise.all(Object.values(children).map(processIdentity));
    alive = Object.keys(children).filter((_name, index) => identities[index] !== undefined);
    return alive.length === 0;
  });
  await looked.catch(() => {});
  return alive;
}

async function ask({
  url,
  method,
  params,
}: {
  url: string;
  method: string;
  params: readonly unknown[];
}): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": coreKey },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return rpcAnswer.parse(await response.json()).result;
}
