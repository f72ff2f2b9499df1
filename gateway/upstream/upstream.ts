import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { CallToForward } from "../call.ts";
import type { GatewayConfig } from "../config.ts";
import { createHeadTracker } from "./head/head-tracker.ts";
import { registerHeadMetrics } from "./head-metrics.ts";
import {
  createValidatorPool,
  type StreamedAnswer,
  type Unanswered,
  type WholeAnswer,
} from "./validator-pool.ts";

export type Upstream = {
  /**
   * Has a validator answer one call, within the method's time; `eth_blockNumber` is answered from the head. Never
   * throws. With `mayStream` a long answer comes as a stream, which has to be started or aborted.
   */
  ask(call: CallToForward, options: AskOptions): Promise<WholeAnswer | StreamedAnswer | Unanswered>;
  /** Number of the announced head; undefined while no validator tells one. */
  headNumber(): bigint | undefined;
  /** Resolves when a head is announced, or after `timeoutMs`. */
  waitForHead(timeoutMs: number): Promise<void>;
  /** Why validators are not as they should be, in words for `/readyz`; empty where all is well. */
  problems(): string[];
  /** The chain and each validator, for `/status`. */
  status(): object;
  stop(): Promise<void>;
};

/** `group` is whose call it is, the key's id: what waits for one key is bounded. */
export type AskOptions = { group: string; mayStream: boolean };

/** The validators behind one door: the head says which of them count, the pool asks them. */
export function createUpstream({
  config,
  registry,
  logger,
}: {
  config: Pick<
    GatewayConfig,
    "upstreams" | "forward" | "chainId" | "genesisHash" | "blockTimeMs" | "newHeads"
  >;
  registry: Registry;
  logger: Logger;
}): Upstream {
  const urls = config.upstreams;
  const head = createHeadTracker({
    validators: urls.map((url, index) => ({ label: String(index), url, wsUrl: config.newHeads })),
    chainId: BigInt(config.chainId),
    genesisHash: config.genesisHash === "" ? undefined : config.genesisHash,
    blockTimeMs: config.blockTimeMs,
    logger,
  });
  const pool = createValidatorPool({ urls, settings: config.forward, head, registry, logger });
  registerHeadMetrics({ registry, head });

  /** The head is one number for everybody, whichever validator would be asked. */
  async function answerBlockNumber({ rule }: CallToForward): Promise<WholeAnswer | "unavailable"> {
    if (head.announced() === undefined) await head.waitFor(0n, rule.timeoutMs);
    const result = head.blockNumberAnswer();
    if (result === undefined) return "unavailable";
    return { beforeId: '{"jsonrpc":"2.0","id":', afterId: `,"result":${result}}`, isAscii: true };
  }

  return {
    ask(call, options) {
      return call.rule.name === "eth_blockNumber" ? answerBlockNumber(call) : pool.ask(call, options);
    },
    headNumber: () => head.announced()?.number,
    async waitForHead(timeoutMs) {
      await head.waitFor(0n, timeoutMs);
    },
    problems() {
      if (!pool.isAnswering() || head.announced() === undefined) return ["no validator answers"];
      return head.isStalled() ? ["the chain is stalled: no validator has a new block"] : [];
    },
    status() {
      const announced = head.announced();
      const { validators, lanes } = pool.status();
      const places = new Map(head.status().map((place) => [place.label, place]));
      return {
        chain: {
          head: announced === undefined ? null : { number: Number(announced.number), hash: announced.hash },
          stalled: head.isStalled(),
          epoch: head.epoch(),
        },
        lanes,
        validators: validators.map((validator) => ({ ...places.get(validator.label), ...validator })),
      };
    },
    async stop() {
      await Promise.all([pool.stop(), head.stop()]);
    },
  };
}
