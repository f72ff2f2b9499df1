import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type ApiConfig, readApiConfig } from "../../../api/config.ts";
import { start } from "../../../api/start.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";

export type ApiUnderTest = {
  url: string;
  opsUrl: string;
  logLines: string[];
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
};

export type Answer = { status: number; headers: Headers; text: string; json: unknown };

const configFile = fileURLToPath(new URL("../../../config/api.yaml", import.meta.url));

/** An API of the shipped configuration on free loopback ports, stopped when the test ends. */
export async function startApi(
  t: Teardown,
  {
    redisUrl,
    postgresUrl,
    upstream,
    change = (config) => config,
    now,
  }: {
    redisUrl: string;
    postgresUrl: string;
    upstream: string;
    change?: (config: ApiConfig) => ApiConfig;
    now?: () => number;
  },
): Promise<ApiUnderTest> {
  const shipped = readApiConfig({
    file: configFile,
    env: {
      REDIS_URL: redisUrl,
      POSTGRES_URL: postgresUrl,
      API_UPSTREAM: upstream,
      API_PORT: "0",
      API_OPS_PORT: "0",
    },
  });
  // A test sees its own requests; those of limits set theirs.
  const config = change({ ...shipped, headPollMs: 100, limits: { ...shipped.limits, points: 1_000_000 } });
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const api = await start(config, { logger, ...(now === undefined ? {} : { now }) });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= api.stop());
  t.teardown(stop);
  const url = `http://127.0.0.1:${api.address.port}`;
  return {
    url,
    opsUrl: `http://127.0.0.1:${api.address.opsPort}`,
    logLines,
    stop,
    async get(path, headers = {}) {
      const response = await fetch(`${url}${path}`, { headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
