import { pino } from "pino";
import { Registry } from "prom-client";
import { createFollower, type FollowerOptions } from "../../../api/follower/follower.ts";
import { createHeadWatch } from "../../../api/follower/head-watch.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { until } from "./until.ts";

export type OwnFollower = Awaited<ReturnType<typeof startOwnFollower>>;

/** A follower of the chain at `url`, in this process and with quick polls. It stops with its owner. */
export async function startOwnFollower(
  t: Teardown,
  {
    url,
    headers = {},
    webSocketUrl,
    headPollMs = 20,
    ...options
  }: { url: string; headers?: Record<string, string>; webSocketUrl?: string; headPollMs?: number } & Pick<
    FollowerOptions,
    "postgresUrl"
  > &
    Partial<FollowerOptions>,
) {
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const rpc = createRpcClient({ url, headers, timeoutMs: 5000 });
  const heads = createHeadWatch({
    rpc,
    ...(webSocketUrl === undefined ? {} : { webSocket: { url: webSocketUrl, headers } }),
    pollMs: () => headPollMs,
    logger,
  });
  const registry = new Registry();
  const follower = createFollower({
    rpc,
    heads,
    registry,
    logger,
    isDevelopment: true,
    pollMs: 100,
    sessionPollMs: 50,
    retryMinMs: 10,
    ...options,
  });
  heads.start();
  follower.start();
  let stopping: Promise<void> | undefined;
  async function end(): Promise<void> {
    heads.stop();
    await follower.stop();
    await rpc.stop();
  }
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  t.teardown(stop);
  return {
    ...follower,
    heads,
    rpc,
    registry,
    logLines,
    stop,
    /** Resolves when block `number` is in the index. */
    indexed: (number: number) =>
      until(`block ${number} is indexed`, () => (follower.standing().next ?? 0) > number),
  };
}
