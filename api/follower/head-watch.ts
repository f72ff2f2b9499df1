import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { readAnswer } from "../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { hash, quantity } from "../../lib/chain/rpc-values.ts";
import { openHeadsSocket } from "./heads-socket.ts";

export type Head = { number: number; hash: string };
export type HeadWatch = ReturnType<typeof createHeadWatch>;

const headSchema = z.object({ number: quantity, hash });
const retryMinMs = 250;
const retryMaxMs = 10_000;

/**
 * The chain's last block: told by `newHeads` over a WebSocket, and asked for every `pollMs` besides, since a socket can
 * be silent without an end. A head may be lower than the one before: then the chain has been reset.
 */
export function createHeadWatch({
  rpc,
  webSocket,
  pollMs = () => 2000,
  logger,
}: {
  rpc: Pick<RpcClient, "ask">;
  /** Where it is told, and what says who asks; read for each connection. Undefined: it is asked for alone. */
  webSocket?: { readonly url: string; readonly headers?: Readonly<Record<string, string>> } | undefined;
  pollMs?: () => number;
  logger: Pick<Logger, "info" | "warn">;
}) {
  const listeners = new Set<(head: Head) => void>();
  const stopped = new AbortController();
  let head: Head | undefined;
  let isAnswering = false;
  let connection = new AbortController();
  const running: Promise<void>[] = [];

  function tell(json: unknown): void {
    const read = headSchema.safeParse(json).data;
    if (read === undefined || stopped.signal.aborted || read.hash === head?.hash) return;
    head = read;
    for (const listener of listeners) listener(read);
  }

  async function poll(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        tell(readAnswer(await rpc.ask("eth_getBlockByNumber", ["latest", false]), z.unknown()));
        isAnswering = true;
      } catch (error) {
        if (isAnswering) logger.warn({ err: error }, "the chain's head cannot be asked for");
        isAnswering = false;
      }
      await pause(pollMs());
    }
  }

  async function hear({ webSocket: target }: { webSocket: NonNullable<typeof webSocket> }): Promise<void> {
    let retryMs = retryMinMs;
    while (!stopped.signal.aborted) {
      connection = new AbortController();
      const { url, headers = {} } = target;
      const signal = AbortSignal.any([stopped.signal, connection.signal]);
      const { heads, reason } = await openHeadsSocket({ url, headers, onHead: tell, signal });
      if (stopped.signal.aborted) return;
      if (signal.aborted) {
        retryMs = retryMinMs;
        continue;
      }
      logger.info({ reason, heads }, "the WebSocket that tells of new blocks has ended");
      retryMs = heads > 0 ? retryMinMs : Math.min(2 * retryMs, retryMaxMs);
      await pause(retryMs);
    }
  }

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {});

  return {
    start(): void {
      running.push(poll());
      if (webSocket !== undefined) running.push(hear({ webSocket }));
    },
    /** Begins a WebSocket anew: where it leads has changed. */
    reconnect: () => connection.abort(),
    /** Undefined before the first answer. */
    head: () => head,
    /** Whether the last poll was answered. */
    isAnswering: () => isAnswering,
    onHead(listener: (head: Head) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Does not wait for a poll under way. */
    stop(): void {
      stopped.abort();
    },
  };
}
