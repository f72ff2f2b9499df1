import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { GatewayConfig } from "../config.ts";
import type { CallToForward } from "../methods/call.ts";
import type { DeadlyCalls } from "../traces/deadly-calls.ts";
import { createRunTraces } from "../traces/run-traces.ts";
import { registerTraceMetrics } from "../traces/trace-metrics.ts";
import { createTraceNodes } from "../traces/trace-nodes.ts";
import type { TraceSlots } from "../traces/trace-slots.ts";
import { differencesIn } from "./differences-in.ts";
import { createHeadTracker, type HeadTracker } from "./head/head-tracker.ts";
import { createHeadGate } from "./head-gate.ts";
import { registerHeadMetrics } from "./head-metrics.ts";
import {
  type CallOptions,
  ownWholeAnswer,
  type Settle,
  type UpstreamResult,
  type WholeAnswer,
} from "./upstream-result.ts";
import { createValidatorPool } from "./validator-pool.ts";

export type Upstream = {
  /**
   * Has a validator answer one call, within the method's time. An answer
   * that knows a later block than the announced one waits a moment for that. Never throws. With `mayStream` a long
   * answer comes as a stream, which has to be started or aborted.
   */
  ask(call: CallToForward, options: CallOptions): Promise<UpstreamResult>;
  /** The same for the many: `settle` is called once, perhaps before this returns, and must not throw. */
  submit(call: CallToForward, options: CallOptions, settle: Settle): void;
  /** The announced head, ready to be put into calls and answers; undefined while no validator tells one. */
  head(): AnnouncedHead | undefined;
  /** Resolves when a number a little above the head is announced, or when waiting for it is over. */
  reach(number: number): Promise<void>;
  /** Number of the announced head; undefined while no validator tells one. */
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
  /** Answers everything that waits with "unavailable", and asks nothing any more. */
  giveUp(): void;
  stop(): Promise<void>;
};

export type AnnouncedHead = {
  number: number;
  bigNumber: bigint;
  /** As JSON text: a string of hex. */
  numberText: string;
  /** What `eth_blockNumber` is answered. */
  blockNumber: WholeAnswer;
};

/** The validators behind one door: the head says which of them count, the pool asks them. */
export function createUpstream({
  config,
  deadly,
  slots,
  registry,
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
  logger: Logger;
  monotonicMs?: () => number;
}): Upstream {
  const named = config.upstreams;
  const head = createHeadTracker({
    validators: named.map(({ name, url }) => ({ label: name, url, wsUrl: config.newHeads })),
    chainId: BigInt(config.chainId),
    genesisHash: config.genesisHash === "" ? undefined : config.genesisHash,
    blockTimeMs: config.blockTimeMs,
    logger,
    monotonicMs,
  });
  const pool = createValidatorPool({
    upstreams: named,
    settings: config.forward,
    chainId: config.chainId,
    head,
    registry,
    logger,
    now: monotonicMs,
  });
  registerHeadMetrics({ registry, head });
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
    // Nodes that do nothing else need not be spared.
    settings: traceNodes === undefined ? config.traces : { ...config.traces, sparedMin: 0 },
    nodesInAll: traceNodes?.count ?? named.length,
    monotonicMs,
  });
  // The last one is never taken out, so that it is silence that tells.
  const healthyNodes = () => (tracePool.isAnswering() ? tracePool.healthy().length : 0);
  registerTraceMetrics({ registry, deadly, traces, healthyNodes });
  let announced: AnnouncedHead | undefined;
  head.onHead(({ number, numberHex }) => {
    const numberText = `"${numberHex}"`;
    announced = {
      number: Number(number),
      bigNumber: number,
      numberText,
      blockNumber: ownWholeAnswer(numberText),
    };
  });
  head.onEpoch(() => {
    announced = undefined;
  });

  function submit(call: CallToForward, options: CallOptions, settle: Settle): void {
    if (call.rule.trace !== undefined) traces.submit(call, options, settle);
    else if (headGate.concerns(call)) headGate.submit(call, options, settle);
    else pool.submit(call, options, settle);
  }

  return {
    ask: (call, options) => new Promise((resolve) => submit(call, options, resolve)),
    submit,
    head: () => announced,
    reach: headGate.reach,
    headNumber: () => head.announced()?.number,
    onHead: head.onHead,
    onEpoch: head.onEpoch,
    async waitForHead(timeoutMs) {
      await head.waitFor(0n, timeoutMs);
    },
    problems() {
      const noneCounts = head.whyNoneCounts();
      if (noneCounts !== undefined) return [`no validator counts: ${noneCounts}`];
      const differences = differencesIn(head.differences());
      const isSilent = !pool.isAnswering() || head.announced() === undefined || head.answering() === 0;
      if (isSilent) return ["no validator answers", ...differences];
      const isTraceless = traceNodes !== undefined && healthyNodes() === 0;
      return [
        ...(isTraceless ? ["no trace node answers: traces are refused"] : []),
        ...(head.isStalled() ? ["the chain is stalled: no validator has a new block"] : []),
        ...differences,
      ];
    },
    whyNoneCounts: head.whyNoneCounts,
    status() {
      const announced = head.announced();
      const { validators, lanes } = pool.status();
      const places = new Map(head.status().map((place) => [place.label, place]));
      return {
        chain: {
          head: announced === undefined ? null : { number: Number(announced.number), hash: announced.hash },
          stalled: head.isStalled(),
          secondsSinceBlock: Math.round(head.headAgeMs() / 1000),
          answering: head.answering(),
          epoch: head.epoch(),
          waiting: head.differences().waiting.map(({ number, hash, having }) => ({
            number: Number(number),
            hash,
            validators: having,
          })),
        },
        lanes,
        traces: {
          ...traces.stats(),
          deadlyCalls: deadly.stats(),
          problem: traces.problem() ?? null,
          nodes: traceNodes?.status() ?? "validators",
        },
        validators: validators.map((validator) => ({ ...places.get(validator.label), ...validator })),
      };
    },
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
