import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { GatewayConfig } from "../config.ts";
import type { CallToForward } from "../methods/call.ts";
import type { DeadlyCalls } from "../traces/deadly-calls.ts";
import { createRunTraces } from "../traces/run-traces.ts";
import { registerTraceMetrics } from "../traces/trace-metrics.ts";
import { createTraceNodes } from "../traces/trace-nodes.ts";
import type { TraceSlots } from "../traces/trace-slots.ts";
import { type AnnouncedHead, followAnnounced } from "./announced-head.ts";
import type { FollowedValidator } from "./head/feeds.ts";
import { createHeadTracker, type HeadTracker, type HeadTrackerOptions } from "./head/head-tracker.ts";
import { createRemoteHead, type HeadSource } from "./head/remote-head.ts";
import { createHeadGate } from "./head-gate.ts";
import { registerHeadMetrics } from "./head-metrics.ts";
import type { NamedUpstream } from "./named-upstreams.ts";
import type { CallOptions, Settle, UpstreamResult } from "./upstream-result.ts";
import { problemsOf, upstreamStatus } from "./upstream-status.ts";
import { createValidatorPool } from "./validator-pool.ts";

export type Upstream = {
  /**
   * Has a validator answer one call, within the method's time. An answer that knows a later block than the announced one
   * waits a moment for that. Never throws. With `mayStream` a long answer comes as a stream, which has to be started or
   * aborted.
   */
  ask(call: CallToForward, options: CallOptions): Promise<UpstreamResult>;
  /** Does the same without a promise, for the hot path. */
  submit(call: CallToForward, options: CallOptions, settle: Settle): void;
  /** The announced head, ready for calls and answers; undefined while there is none. */
  head(): AnnouncedHead | undefined;
  /** Resolves when a number a little above the head is announced, or when the time for that is over. */
  reach(number: number): Promise<void>;
  /** Number of the announced head; undefined while there is none. */
  headNumber(): bigint | undefined;
  /** Each announced block, and the beginning of another chain: see `HeadTracker`. */
  onHead: HeadTracker["onHead"];
  onEpoch: HeadTracker["onEpoch"];
  /** Resolves when a head is announced, or after `timeoutMs`. */
  waitForHead(timeoutMs: number): Promise<void>;
  /** Why validators are not as they should be, in words for `/readyz`; empty where all is well. */
  problems(): string[];
  /** Why no validator counts, in words for clients; undefined where one does. */
  whyNoneCounts(): string | undefined;
  /** The chain and each validator, for `/status`. */
  status(): object;
  /** Why these cannot be the validators now; undefined where they can. */
  problem(upstreams: readonly NamedUpstream[]): string | undefined;
  /** Makes these the validators: new ones get calls once they are known, others answer what they have and are let go. */
  configure(upstreams: readonly NamedUpstream[]): void;
  /** Of the lines about nodes for traces; all others follow the logger. */
  setLogLevel(level: string): void;
  /** Settles all calls as unavailable and takes none in any more. */
  giveUp(): void;
  stop(): Promise<void>;
};

/** The validators as one: the head says which of them count, the pool sends them calls. */
export function createUpstream({
  config,
  deadly,
  slots,
  registry,
  headSource,
  logger,
  monotonicMs = () => performance.now(),
}: {
  config: Pick<
    GatewayConfig,
    | "upstreams"
    | "traceUpstreams"
    | "traces"
    | "forward"
    | "chainId"
    | "genesisHash"
    | "blockTimeMs"
    | "newHeads"
  >;
  deadly: DeadlyCalls;
  slots: TraceSlots;
  registry: Registry;
  /** Another process of this machine that follows the validators; undefined: this one does. */
  headSource?: HeadSource | undefined;
  logger: Logger;
  monotonicMs?: () => number;
}): Upstream {
  let named: readonly NamedUpstream[] = config.upstreams;
  const { blockTimeMs } = config;
  const head =
    headSource === undefined
      ? createHeadTracker({ ...headOptions(config), logger, monotonicMs })
      : createRemoteHead({ source: headSource, blockTimeMs, logger, monotonicMs });
  const pool = createValidatorPool({
    upstreams: named,
    settings: config.forward,
    chainId: config.chainId,
    head,
    registry,
    logger,
    now: monotonicMs,
  });
  // Whoever follows the validators tells of them.
  if (headSource === undefined) registerHeadMetrics({ registry, head });
  const headGate = createHeadGate({ head, pool });
  const traceNodes =
    config.traceUpstreams.length === 0
      ? undefined
      : createTraceNodes({ config, announced: head.announced, logger });
  const tracePool = traceNodes?.pool ?? pool;
  const traces = createRunTraces({
    pool: tracePool,
    slots,
    deadly,
    // Trace nodes do nothing else, so none has to be spared.
    settings: traceNodes === undefined ? config.traces : { ...config.traces, sparedMin: 0 },
    nodesInAll: () => traceNodes?.count ?? named.length,
    monotonicMs,
  });
  // The last node is never ejected, so only its silence tells.
  const healthyNodes = () => (tracePool.isAnswering() ? tracePool.healthy().length : 0);
  registerTraceMetrics({ registry, deadly, traces, healthyNodes });
  const parts = { head, pool, traces, traceNodes, healthyNodes, deadly };
  const announced = followAnnounced(head);

  function submit(call: CallToForward, options: CallOptions, settle: Settle): void {
    if (call.rule.trace !== undefined) traces.submit(call, options, settle);
    else if (headGate.concerns(call)) headGate.submit(call, options, settle);
    else pool.submit(call, options, settle);
  }

  return {
    ask: (call, options) => new Promise((resolve) => submit(call, options, resolve)),
    submit,
    head: announced,
    reach: headGate.reach,
    headNumber: () => head.announced()?.number,
    onHead: head.onHead,
    onEpoch: head.onEpoch,
    async waitForHead(timeoutMs) {
      await head.waitFor(0n, timeoutMs);
    },
    problems: () => problemsOf(parts),
    whyNoneCounts: head.whyNoneCounts,
    status: () => upstreamStatus(parts),
    problem: pool.problem,
    configure(upstreams) {
      named = upstreams;
      head.configure(followedOf({ ...config, upstreams }));
      pool.configure(named);
    },
    setLogLevel: (level) => traceNodes?.setLogLevel(level),
    giveUp() {
      traces.stop();
      pool.settleAll();
      traceNodes?.settleAll();
    },
    async stop() {
      traces.stop();
      await Promise.all([pool.stop(), head.stop(), traceNodes?.stop()]);
    },
  };
}

type HeadConfig = Pick<GatewayConfig, "upstreams" | "chainId" | "genesisHash" | "blockTimeMs" | "newHeads">;

/** What a head tracker has to know of the configuration. */
export function headOptions(
  config: HeadConfig,
): Pick<HeadTrackerOptions, "validators" | "chainId" | "genesisHash" | "blockTimeMs"> {
  return {
    validators: followedOf(config),
    chainId: BigInt(config.chainId),
    genesisHash: config.genesisHash === "" ? undefined : config.genesisHash,
    blockTimeMs: config.blockTimeMs,
  };
}

/** The validators as a head tracker follows them. */
export function followedOf({
  upstreams,
  newHeads,
}: {
  upstreams: readonly NamedUpstream[];
  newHeads: GatewayConfig["newHeads"];
}): FollowedValidator[] {
  return upstreams.map(({ name, url, role }) => ({
    ...{ label: name, url, wsUrl: newHeads },
    isReplica: role === "replica",
  }));
}
