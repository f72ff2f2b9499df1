import type { Logger } from "pino";
import { Registry } from "prom-client";
import type { GatewayConfig } from "../config.ts";
import { createHeadTracker } from "../upstream/head/head-tracker.ts";
import { createValidatorPool } from "../upstream/validator-pool.ts";

export type TraceNodes = ReturnType<typeof createTraceNodes>;

/**
 * Nodes that run traces and nothing else. They have a pool and a head of their own, so they have no say in the announced
 * head, get no other calls, and may fail without harm to anybody else. A node behind the announced block gets no traces.
 */
export function createTraceNodes({
  config,
  announced,
  logger,
}: {
  config: Pick<
    GatewayConfig,
    "traceUpstreams" | "forward" | "chainId" | "genesisHash" | "blockTimeMs" | "newHeads"
  >;
  /** The validators' head. */
  announced: () => { number: bigint; hash: string } | undefined;
  logger: Logger;
}) {
  const named = config.traceUpstreams;
  const ownLogger = logger.child({ upstream: "trace" });
  const head = createHeadTracker({
    validators: named.map(({ name, url }) => ({ label: name, url, wsUrl: config.newHeads })),
    chainId: BigInt(config.chainId),
    genesisHash: config.genesisHash === "" ? undefined : config.genesisHash,
    blockTimeMs: config.blockTimeMs,
    logger: ownLogger,
  });
  const pool = createValidatorPool({
    upstreams: named,
    settings: config.forward,
    chainId: config.chainId,
    head: {
      isEligible(label) {
        const height = head.heightOf(label);
        return height !== undefined && height >= (announced()?.number ?? 0n);
      },
      announced,
      heightOf: head.heightOf,
    },
    // The pool's metrics are about validators. Traces have metrics of their own.
    registry: new Registry(),
    logger: ownLogger,
  });

  return {
    pool,
    count: named.length,
    status() {
      const places = new Map(head.status().map((place) => [place.label, place]));
      return pool.status().validators.map((node) => ({ ...places.get(node.label), ...node }));
    },
    setLogLevel(level: string): void {
      ownLogger.level = level;
    },
    settleAll: pool.settleAll,
    async stop(): Promise<void> {
      pool.stop();
      await head.stop();
    },
  };
}
