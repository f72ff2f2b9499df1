import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { freePort } from "../../processes/free-port.ts";
import { type Child, runChild } from "../../processes/run-child.ts";
import { startRedis } from "../../processes/start-redis.ts";
import { startParentWatch } from "../../processes/watch-parent.ts";
import type { Command } from "./contestant.ts";
import { allowedCores, type Cores, pinProcess, splitCores } from "./cores.ts";
import { createStubChain, type StubChain } from "./validators/stub-chain.ts";

/** What all contestants share: a Redis, validators, a folder for files, and the end of everything that was started. */
export type Rig = {
  cores: Cores;
  programs: Readonly<Record<string, string>>;
  redis: { url: string; pid: number };
  validators: Validators;
  folderFor(name: string): Promise<string>;
  /** Starts a program on the load's cores, or on the proxy's. @throws Error where it cannot be started. */
  start(name: string, command: Command, options?: StartOptions): Promise<Child>;
  /** Ends every program and removes the folder; nothing can be started any more. */
  stop(): Promise<void>;
};

export type StartOptions = { onProxyCore?: boolean; onLine?: (line: string) => void };

export type Validators = {
  ports: readonly number[];
  chain: StubChain;
  /** Requests and calls that have reached them, without the gateway's own polls. */
  counts(): Promise<Counts>;
};

export type Counts = z.infer<typeof countsSchema>;
const countsSchema = z.object({ requests: z.number(), calls: z.number() });

const validatorsCount = 5;
const stopWithinMs = 6000;
/** Several processes start on one core, which may be busy otherwise. */
const readyWithinMs = 90_000;
const pollMs = 50;

/** Starts Redis and validators. This process and they run on the load's cores. */
export async function createRig({
  programs,
  env: { PATH, HOME },
  proxyCores = 1,
}: {
  programs: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string | undefined>>;
  /** As many for a proxy, where the machine has them. */
  proxyCores?: number;
}): Promise<Rig> {
  const cores = splitCores(allowedCores(), proxyCores);
  await pinProcess(process.pid, cores.load);
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-"));
  const watch = await startParentWatch();
  const children = new Set<Child>();
  let stopping: Promise<void> | undefined;
  const remember = (child: Child) => {
    children.add(child);
    watch.remember(child.pid);
    // Another program may get its number from now on.
    child.ended.then(() => {
      children.delete(child);
      watch.forget(child.pid);
    });
  };

  async function start(
    name: string,
    { program, args, env = {} }: Command,
    { onProxyCore = false, onLine = () => {} }: StartOptions = {},
  ): Promise<Child> {
    if (stopping !== undefined) throw new Error("the bench is being stopped");
    const list = (onProxyCore ? cores.proxy : cores.load).join(",");
    const started = await runChild({
      name,
      program: programs["taskset"] ?? "taskset",
      args: ["-c", list, program, ...args],
      // No other variables: they could configure the measured program.
      env: { PATH, HOME, ...env },
      cwd: folder,
      onLine,
    });
    if ("failed" in started) throw new Error(started.failed);
    remember(started);
    // A stop during its start has not seen it.
    if (stopping !== undefined) started.kill();
    return started;
  }

  function stop(): Promise<void> {
    stopping ??= stopAll();
    return stopping;
  }

  async function stopAll(): Promise<void> {
    await Promise.all([...children].map((child) => child.stop({ withinMs: stopWithinMs })));
    await watch.stop();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const redis = await startRedis({
      program: programs["redis-server"] ?? "redis-server",
      env: { PATH, HOME },
      folder,
      keepsNothing: true,
      onLine: () => {},
      onChild: remember,
    });
    if ("failed" in redis) throw new Error(redis.failed);
    const validators = await startValidators({ cores, start });
    return {
      cores,
      programs,
      redis: { url: redis.url, pid: redis.child.pid },
      validators,
      async folderFor(name) {
        const own = join(folder, name);
        await mkdir(own, { recursive: true });
        return own;
      },
      start,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One process for each core besides the load tool's: more would only share cores. */
async function startValidators({ cores, start }: Pick<Rig, "cores" | "start">): Promise<Validators> {
  const startedAtMs = Date.now();
  const processes = Math.min(validatorsCount, Math.max(1, cores.load.length - 1));
  const ports: number[] = [];
  while (ports.length < validatorsCount) ports.push(await freePort());
  const script = fileURLToPath(new URL("validators/main.ts", import.meta.url));
  const firstPorts: number[] = [];
  for (let index = 0; index < processes; index += 1) {
    const own = ports.filter((_port, place) => place % processes === index);
    const args = ["--disable-warning=ExperimentalWarning", script, String(startedAtMs), ...own.map(String)];
    const child = await start(`validators ${index}`, { program: process.execPath, args });
    const [first = 0] = own;
    await whenAnswering(child, async () => (await fetch(countsUrl(first))).ok);
    firstPorts.push(first);
  }
  return {
    ports,
    chain: createStubChain({ startedAtMs }),
    async counts() {
      const total: Counts = { requests: 0, calls: 0 };
      for (const port of firstPorts) {
        const { requests, calls } = countsSchema.parse(await (await fetch(countsUrl(port))).json());
        total.requests += requests;
        total.calls += calls;
      }
      return total;
    },
  };
}

function countsUrl(port: number): string {
  return `http://127.0.0.1:${port}/counts`;
}

/**
 * Resolves when `isAnswering` says so; an error of it is a no.
 * @throws Error where the program ended, or where nothing answers in time.
 */
export async function whenAnswering(child: Child, isAnswering: () => Promise<boolean>): Promise<void> {
  const giveUpAtMs = performance.now() + readyWithinMs;
  while (performance.now() < giveUpAtMs) {
    if (!child.running()) throw new Error(await child.obituary());
    if (await isAnswering().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`${child.name} did not answer within ${readyWithinMs / 1000} s`);
}
