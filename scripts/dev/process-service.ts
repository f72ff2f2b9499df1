import { setTimeout as sleep } from "node:timers/promises";
import { reachableUrl } from "../processes/reachable-url.ts";
import { runChild } from "../processes/run-child.ts";
import type { Service, ServiceContext, ServiceRow } from "./service.ts";

/** One of our processes: runs `main` with `--config FILE`, and is ready when its ops server says so. */
export type ProcessDescription = {
  name: string;
  /** The path of its main.ts. */
  main: string;
  configFile: string;
  host: string;
  port: number;
  /** Whether its port speaks HTTPS. */
  isTls: boolean;
  ops: { host: string; port: number };
  /** Arguments after `--config FILE`. */
  args?: readonly string[];
  /** Environment variables besides the addresses of Redis, upstreams and the faucet. */
  env?: (addresses: ServiceContext["addresses"]) => Readonly<Record<string, string | undefined>>;
  /** Longer than its own graceful stop takes. */
  endWithinMs: number;
  /** Where its data is. */
  data?: string;
};

const readyWithinMs = 60_000;
const readyAskTimeoutMs = 1000;
const readyPollMs = 20;

export function processService({
  description: {
    name,
    main,
    configFile,
    host,
    port,
    isTls,
    ops,
    args = [],
    env: envOf = () => ({}),
    endWithinMs,
    data = "in Redis",
  },
  nodeProgram,
}: {
  description: ProcessDescription;
  nodeProgram: string;
}): Service {
  const readyUrl = `${reachableUrl(ops)}/readyz`;
  const changeWith = (key: string) => `\`${key}\` in ${configFile}`;
  return {
    name,
    ports: [
      { host, port, owner: `the ${name}`, changeWith: changeWith("port") },
      { ...ops, owner: `the ${name}'s ops server`, changeWith: changeWith("ops.port") },
    ],
    async start({ env, addresses, stopping, childLine, adopt }) {
      const child = await runChild({
        name,
        program: nodeProgram,
        args: ["--disable-warning=ExperimentalWarning", main, "--config", configFile, ...args],
        env: {
          // Readable log lines by default.
          LOG_FORMAT: "pretty",
          ...env,
          REDIS_URL: addresses.redis,
          UPSTREAMS: addresses.upstreams,
          FAUCET_URL: addresses.faucet,
          ...envOf(addresses),
        },
        onLine: (line) => {
          if (!isKnownWarning(line)) childLine(name, line);
        },
      });
      if ("failed" in child) return child;
      adopt(child, { endWithinMs });
      const giveUpAt = Date.now() + readyWithinMs;
      while (child.running() && !stopping.aborted) {
        if (await isReady(readyUrl)) return { rows: rows(), child };
        if (Date.now() > giveUpAt) {
          return { failed: `the ${name} is not ready after ${readyWithinMs / 1000} s (${readyUrl})` };
        }
        await sleep(readyPollMs);
      }
      return { failed: await child.obituary() };
    },
  };

  function rows(): ServiceRow[] {
    return [
      { name, address: `${reachableUrl({ host, port, isTls })}/`, data },
      { name: "", address: `${reachableUrl(ops)}/status`, data: "(ops: also /readyz, /metrics)" },
    ];
  }
}

/** uWebSockets.js says this at each upgrade to a WebSocket, where there is nothing to be done (DECISIONS.md). */
function isKnownWarning(line: string): boolean {
  return line.startsWith("Warning: uWS.HttpResponse writes must be made from within a corked callback");
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(readyAskTimeoutMs) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
