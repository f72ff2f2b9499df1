import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { type Gateway, start } from "../../gateway/start.ts";
import type { ReadAgain } from "../../lib/reload/reloader.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { asUser } from "./redis.ts";

export type GatewayUnderTest = {
  url: string;
  opsUrl: string;
  port: number;
  opsPort: number;
  config: GatewayConfig;
  /** Log lines as they were written. */
  logLines: string[];
  /** POSTs a body (text as it is, anything else as JSON) with the core development key unless told otherwise. */
  post(body: unknown, options?: { key?: string | null; headers?: Record<string, string> }): Promise<Posted>;
  stop(): Promise<void>;
};

export type Posted = { status: number; headers: Headers; text: string; json: unknown };

/** The development keys of `config/gateway.yaml`. */
export const coreKey = "tg_dev_DJ06vWzksST9RjoXb9CKPNiGgAEaFqpksDgNgWrWXMW0Sm5ru";
export const qaKey = "tg_dev_p6y2Mus4TbVfJg5EoBI7FUfKHO5BmRUwev1yZWCzDo51F8hZ9";
/** Configured beside them for tests of what needs one permission only. */
export const rpcOnlyKey = "test-key-with-rpc-permission-only";
export const faucetOnlyKey = "test-key-with-faucet-permission-only";
export const expiredKey = "test-key-that-has-expired";

const unlimited = 1_000_000_000;

/** A gateway of the shipped configuration on free loopback ports, stopped when the test ends. */
export async function startGateway(
  t: Teardown,
  {
    redisUrl,
    upstreams,
    change = (config) => config,
    monotonicMs,
    readAgain,
  }: {
    redisUrl: string;
    upstreams: readonly string[];
    change?: (config: GatewayConfig) => GatewayConfig;
    monotonicMs?: () => number;
    /** What a reload reads. */
    readAgain?: ReadAgain<GatewayConfig>;
  },
): Promise<GatewayUnderTest> {
  const shipped = readGatewayConfig({
    file: fileURLToPath(new URL("../../config/gateway.yaml", import.meta.url)),
    env: { REDIS_URL: redisUrl, UPSTREAMS: upstreams.join(","), GATEWAY_PORT: "0", GATEWAY_OPS_PORT: "0" },
  });
  const changed = change({
    ...shipped,
    // A busy machine is no fault of Redis; tests of its faults set their own.
    redisCommandTimeoutMs: 5000,
    // One call a request, so that a test sees each for itself; arrays and memory have tests of their own.
    memory: { ...shipped.memory, bytesMax: 0 },
    forward: {
      ...shipped.forward,
      arrays: { ...shipped.forward.arrays, light: 1, call: 1 },
      // Nor pings, which a stub would count among the calls.
      health: { ...shipped.forward.health, quietMsMax: 600_000 },
    },
    keys: [
      ...shipped.keys.map((key) => ({ ...key, limitPerMinute: unlimited })),
      {
        label: "rpc only",
        team: "tests",
        value: rpcOnlyKey,
        permissions: ["rpc"],
        limitPerMinute: unlimited,
      },
      { label: "faucet only", team: "tests", value: faucetOnlyKey, permissions: ["faucet"] },
      {
        label: "expired",
        team: "tests",
        value: expiredKey,
        permissions: ["rpc"],
        expiresAt: "2020-01-01T00:00:00Z",
      },
    ],
  });
  const config = { ...changed, redis: asUser(changed.redis, "gateway", changed.profile) };
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const gateway: Gateway = await start(config, {
    logger,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
    ...(readAgain === undefined ? {} : { readAgain }),
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway.stop();
    return stopped;
  };
  t.teardown(stop);
  const url = `http://127.0.0.1:${gateway.address.port}/`;
  return {
    url,
    opsUrl: `http://127.0.0.1:${gateway.address.opsPort}`,
    port: gateway.address.port,
    opsPort: gateway.address.opsPort,
    config,
    logLines,
    stop,
    async post(body, { key = coreKey, headers = {} } = {}) {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          ...(key === null ? {} : { "X-API-Key": key }),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
}
