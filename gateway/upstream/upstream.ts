import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { CallToForward } from "../call.ts";
import type { GatewayConfig } from "../config.ts";
import { createAhead } from "./ahead.ts";
import { createHeadTracker, type HeadTracker } from "./head/head-tracker.ts";
import { registerHeadMetrics } from "./head-metrics.ts";
import { ownWholeAnswer } from "./pool/pool-answer.ts";
import {
  createValidatorPool,
  type Settle,
  type StreamedAnswer,
  type Unanswered,
  type WholeAnswer,
} from "./validator-pool.ts";

export type Upstream = {
  /**
   * Has a validator answer one call, within the method's time; `eth_blockNumber` is answered from the head. An answer
   * that knows a later block than the announced one waits a moment for that. Never throws. With `mayStream` a long
   * answer comes as a stream, which has to be started or aborted.
   */
  ask(call: CallToForward, options: AskOptions): Promise<WholeAnswer | StreamedAnswer | Unanswered>;
  /** The same for the many: `settle` is called once, perhaps before this returns, and must not throw. */
  submit(call: CallToForward, options: AskOptions, settle: Settle): void;
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
  /** The chain and each validator, for `/status`. */
  status(): object;
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

/** `group` is whose call it is, the key's id: what waits for one key is bounded. */
export type AskOptions = {
  group: string;
  mayStream: boolean;
  /** What is left of the method's time. */
  timeoutMs?: number;
};

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
  const ahead = createAhead({ head, pool });
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

  /** The head is one number for everybody, whichever validator would be asked. */
  async function answerBlockNumber({ rule }: CallToForward): Promise<WholeAnswer | "unavailable"> {
    if (announced === undefined) await head.waitFor(0n, rule.timeoutMs);
    return announced?.blockNumber ?? "unavailable";
  }

  function submit(call: CallToForward, options: AskOptions, settle: Settle): void {
    if (call.rule.name === "eth_blockNumber") void answerBlockNumber(call).then(settle);
    else if (ahead.concerns(call)) ahead.submit(call, options, settle);
    else pool.submit(call, options, settle);
  }

  return {
    ask: (call, options) => new Promise((resolve) => submit(call, options, resolve)),
    submit,
    head: () => announced,
    reach: ahead.reach,
    headNumber: () => head.announced()?.number,
    onHead: head.onHead,
    onEpoch: head.onEpoch,
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
