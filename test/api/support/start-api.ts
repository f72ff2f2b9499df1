import { pino } from "pino";
import type { ApiConfig } from "../../../api/config.ts";
import { start } from "../../../api/start.ts";
import type { ReadAgain } from "../../../lib/reload/reloader.ts";
import { type ApiServices, ownApiConfig } from "../../../scripts/pages/sites/own-api-config.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { asUser } from "../../helpers/redis.ts";

export type ApiUnderTest = {
  url: string;
  opsUrl: string;
  logLines: string[];
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
};

export type Answer = { status: number; headers: Headers; text: string; json: unknown };

/** An API of the shipped configuration on free loopback ports, stopped when the test ends. */
export async function startApi(
  t: Teardown,
  {
    change = (config) => config,
    now,
    readAgain,
    ...services
  }: ApiServices & {
    change?: (config: ApiConfig) => ApiConfig;
    now?: () => number;
    /** What a reload reads. */
    readAgain?: ReadAgain<ApiConfig>;
  },
): Promise<ApiUnderTest> {
  // A test sees its own requests; those of limits set theirs.
  const own = ownApiConfig(services);
  const config = withoutDevelopmentKeys(change({ ...own, redis: asUser(own.redis, "api") }));
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const api = await start(config, {
    logger,
    ...(now === undefined ? {} : { now }),
    ...(readAgain === undefined ? {} : { readAgain }),
  });
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

/** Production takes no key that everybody knows: a test's API sells nothing there unless it brings its own. */
function withoutDevelopmentKeys(config: ApiConfig): ApiConfig {
  const { profile, svcDev } = config;
  if (profile !== "production" || svcDev.orderSigner.kind !== "development") return config;
  return { ...config, svcDev: { ...svcDev, orderSigner: { kind: "none" } } };
}
