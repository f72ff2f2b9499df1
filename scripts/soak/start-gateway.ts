import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { readGatewayConfig } from "../../gateway/config.ts";
import { start } from "../../gateway/start.ts";
import type { Teardown } from "../processes/teardown.ts";

export type SoakedGateway = {
  url: string;
  /** POSTs a body as JSON, by default with the first key of the shipped configuration. */
  post(body: unknown, options?: { key?: string }): Promise<PostedAnswer>;
  stop(): Promise<void>;
};

export type PostedAnswer = { status: number; headers: Headers; text: string; json: unknown };

/** Development keys of the shipped configuration: the first, and the one of the partner's QA. */
export type SoakKeys = { core: string; qa: string };

const unlimited = 1_000_000_000;

/** A gateway in this process with the shipped configuration, whose keys have no limit. */
export async function startGateway(
  t: Teardown,
  { redisUrl, upstreams }: { redisUrl: string; upstreams: readonly string[] },
): Promise<SoakedGateway> {
  const shipped = readShipped({
    REDIS_URL: redisUrl,
    UPSTREAMS: upstreams.join(","),
    GATEWAY_PORT: "0",
    GATEWAY_OPS_PORT: "0",
  });
  const gateway = await start(
    {
      ...shipped,
      // On a busy machine a slow command does not mean that Redis is down.
      redisCommandTimeoutMs: 5000,
      keys: shipped.keys.map((key) => ({ ...key, limitPerMinute: unlimited })),
    },
    { logger: pino({ level: "silent" }) },
  );
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway.stop();
    return stopped;
  };
  t.teardown(stop);
  const url = `http://127.0.0.1:${gateway.address.port}/`;
  const { core } = soakKeys();
  return {
    url,
    stop,
    async post(body, { key = core } = {}) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": key },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const json: unknown = text === "" ? undefined : JSON.parse(text);
      return { status: response.status, headers: response.headers, text, json };
    },
  };
}

export function soakKeys(): SoakKeys {
  const { keys } = readShipped({});
  const secretOf = (isIt: (key: (typeof keys)[number]) => boolean) => keys.find(isIt)?.value ?? "";
  return { core: secretOf(({ qa }) => qa !== true), qa: secretOf(({ qa }) => qa === true) };
}

function readShipped(env: Readonly<Record<string, string>>) {
  return readGatewayConfig({
    file: fileURLToPath(new URL("../../config/gateway.yaml", import.meta.url)),
    env,
  });
}
