import type { Logger } from "pino";
import { createConfirmedHeads } from "./confirmed-heads.ts";
import type { HeadLimits } from "./head-limits.ts";
import type { Probe, ProbeFailure } from "./head-update.ts";
import { type Header, readHeader } from "./read-header.ts";
import { readProbe } from "./read-probe.ts";
import { createRpcClient, type RpcCall, type RpcClient } from "./rpc-client.ts";

export type ValidatorFeed = {
  /** Asks for the latest block now, or as soon as the probe under way is answered. */
  probeSoon(): void;
  /** The blocks at these numbers, as many as the validator has; undefined where it does not answer. Never throws. */
  fetchBlocks(numbers: readonly bigint[]): Promise<Header[] | undefined>;
  source(): "newHeads" | "polling";
  wsReconnects(): number;
  /** When it last closed its connection (monotonic): its process may have ended. */
  connectionLostAtMs(): number | undefined;
  stop(): Promise<void>;
};

export type ValidatorFeedOptions = {
  label: string;
  url: string;
  wsAddresses: readonly string[];
  limits: HeadLimits;
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
  random: () => number;
  onProbe: (probe: Probe) => void;
  onFailure: (failure: ProbeFailure) => void;
  onHeader: (header: Header) => void;
};

/**
 * The reports of one validator: a probe every `probeIntervalMs` (who it is, and its latest block or, while its WebSocket
 * brings heads, only that block's number), and the heads of its WebSocket. Heads count only after a probe that was sent while
 * the WebSocket was open: each connection may be to another node.
 */
export function createValidatorFeed(options: ValidatorFeedOptions): ValidatorFeed {
  const { label, url, wsAddresses, limits, logger, monotonicMs, random, onProbe, onFailure, onHeader } =
    options;
  let failures = 0;
  let probing = false;
  let latestWanted = true;
  let probedAtMs = Number.NEGATIVE_INFINITY;
  let connectionLostAtMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const client = createRpcClient({
    url,
    timeoutMs: limits.probeTimeoutMs,
    connectTimeoutMs: limits.connectTimeoutMs,
    answerBytesMax: limits.answerBytesMax,
    disconnected(byValidator) {
      if (byValidator) connectionLostAtMs = monotonicMs();
      // A node that comes back may be another one: it is probed at once, not at the next turn.
      if (failures === 0) probeSoon();
    },
  });

  const heads = createConfirmedHeads({
    label,
    wsAddresses,
    limits,
    logger,
    monotonicMs,
    random,
    onHeader,
    onChanged: () => probeSoon(),
  });

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void probe(), delayMs).unref();
  }

  function probeSoon(): void {
    latestWanted = true;
    if (probing || failures > 0) return;
    schedule(Math.max(0, probedAtMs + limits.probeGapMinMs - monotonicMs()));
  }

  async function probe(): Promise<void> {
    probing = true;
    const sentAtMs = monotonicMs();
    probedAtMs = sentAtMs;
    const wantsLatest = latestWanted || !heads.bring();
    latestWanted = false;
    const asked = await client.ask(wantsLatest ? probeForBlock : probeForNumber);
    if (stopped) return;
    probing = false;
    const read = readProbe(asked, sentAtMs);
    if ("reason" in read) {
      failures += 1;
      latestWanted = true;
      schedule(retryDelayMs());
      onFailure(read);
      return;
    }
    failures = 0;
    heads.confirm(sentAtMs);
    schedule(latestWanted ? limits.probeGapMinMs : limits.probeIntervalMs * (0.9 + random() / 10));
    if (read.latest !== undefined) heads.dropIfDeaf(read.latest);
    onProbe(read);
  }

  function retryDelayMs(): number {
    const delayMs = Math.min(
      limits.probeIntervalMs,
      limits.probeRetryMinMs * 2 ** Math.min(failures - 1, 16),
    );
    return delayMs * (0.75 + random() / 4);
  }

  void probe();
  return {
    probeSoon,
    fetchBlocks: (numbers) => fetchBlocks(client, numbers, limits.fillArrayLength),
    source: () => (heads.bring() ? "newHeads" : "polling"),
    wsReconnects: heads.reconnects,
    connectionLostAtMs: () => connectionLostAtMs,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      heads.stop();
      await client.stop();
    },
  };
}

async function fetchBlocks(
  client: RpcClient,
  numbers: readonly bigint[],
  arrayLength: number,
): Promise<Header[] | undefined> {
  const headers: Header[] = [];
  for (let start = 0; start < numbers.length; start += arrayLength) {
    const asked = await client.ask(numbers.slice(start, start + arrayLength).map(blockAt));
    if (asked.kind === "failed") return undefined;
    for (const result of asked.results) {
      const header = readHeader(result);
      if (header !== undefined) headers.push(header);
    }
  }
  return headers;
}

const blockAt = (number: bigint): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [`0x${number.toString(16)}`, false],
});
// The genesis block has no transactions, so it costs little to ask for it each time, and shows a new chain at once.
const whoAreYou: readonly RpcCall[] = [{ method: "eth_chainId", params: [] }, blockAt(0n)];
const probeForNumber: readonly RpcCall[] = [...whoAreYou, { method: "eth_blockNumber", params: [] }];
const probeForBlock: readonly RpcCall[] = [
  ...whoAreYou,
  { method: "eth_getBlockByNumber", params: ["latest", false] },
];
