import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../processes/free-port.ts";
import { runChild } from "../../processes/run-child.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { startParentWatch } from "../../processes/watch-parent.ts";

/** A server in its own process, so that its CPU time is separate from the load's. */
export type Server = { url: string; pid: number };

const startWithinMs = 60_000;
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** `pageFile`: answers this page instead of a small object. */
export function startBareServer(t: Teardown, { pageFile }: { pageFile?: string } = {}): Promise<Server> {
  return startServer(t, {
    name: "bare",
    path: "/",
    args: (port) => [pathOf("bare-server.ts"), String(port), ...(pageFile === undefined ? [] : [pageFile])],
  });
}

/** The API with the shipped configuration, except for limits that are never reached. */
export async function startApiServer(
  t: Teardown,
  {
    name,
    folder,
    cacheBytesMax,
    services,
  }: {
    name: string;
    folder: string;
    cacheBytesMax: number;
    services: { redisUrl: string; postgresUrl: string; upstream: string };
  },
): Promise<Server> {
  const configFile = join(folder, `${name}.yaml`);
  const config = {
    redis: services.redisUrl,
    postgres: { url: services.postgresUrl },
    upstream: services.upstream,
    contractsFolder: "",
    limits: { points: 1_000_000_000 },
    live: { clientsMax: 10_000, perAddressMax: 1000 },
    cacheBytesMax,
    log: { level: "warn" },
  };
  const main = pathOf("../../../api/main.ts");
  const opsPort = await freePort();
  return startServer(t, {
    name,
    path: "/api/v1/chain",
    async args(port) {
      // JSON is YAML.
      await writeFile(configFile, JSON.stringify({ ...config, port, ops: { port: opsPort } }));
      return [main, "--config", configFile];
    },
  });
}

async function startServer(
  t: Teardown,
  { name, path, args }: { name: string; path: string; args: (port: number) => string[] | Promise<string[]> },
): Promise<Server> {
  const port = await freePort();
  const given = await args(port);
  const child = await runChild({
    name,
    program: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", ...given],
    env: process.env,
    onLine: () => {},
  });
  if ("failed" in child) throw new Error(child.failed);
  // A killed bench cannot stop its servers.
  const watch = await startParentWatch();
  watch.remember(child.pid);
  t.teardown(async () => {
    await child.stop({ withinMs: 10_000 });
    watch.forget(child.pid);
    await watch.stop();
  });
  const url = `http://127.0.0.1:${port}`;
  const endMs = performance.now() + startWithinMs;
  while (!(await isAnswering(`${url}${path}`))) {
    if (!child.running()) throw new Error(await child.obituary());
    if (performance.now() > endMs) throw new Error(`${name} does not answer`);
    await sleep(50);
  }
  return { url, pid: child.pid };
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

export async function indexedBlock({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/api/v1/chain`)).text();
  return Number(/"indexedBlock":(\d+)/.exec(text)?.[1] ?? -1);
}
