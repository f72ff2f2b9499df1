import { setTimeout as sleep } from "node:timers/promises";
import { pendingSeenKey, pendingStreamKey } from "../../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import { defineScript, runScript } from "../../../lib/redis/run-script.ts";

export type PendingTransactions = {
  /** A validator has accepted this transaction. It is published once, however often it is sent. Never rejects. */
  publish(hash: string): Promise<void>;
  /** Where the stream ends now. Rejects where Redis does not answer. */
  end(): Promise<string>;
  /** Up to 1 000 hashes after `cursor`, oldest first, and the cursor behind them. Rejects where Redis does not answer. */
  after(cursor: string): Promise<{ hashes: string[]; cursor: string }>;
  /** Calls `tell` with hashes as they come, each once, until the returned function is called. */
  follow(tell: (hashes: readonly string[]) => Promise<void>): () => void;
};

/** The stream is cut to about this length: more than one poll in five minutes at 30 transactions a second. */
const streamLengthMax = 10_000;
/** For so long a transaction that is sent again counts as published. */
const seenMs = 10 * 60_000;
const hashesAtOnceMax = 1000;
const lookEveryMs = 100;

const publishScript = defineScript(`
if redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[3]) then
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'hash', ARGV[1])
end
return 1
`);

/**
 * The transactions that this network's gateways have passed on, in a stream that all of them share. Not those that
 * reached a validator by another way: each validator's own notices would cost it a second subscription, and differ.
 */
export function createPendingTransactions({ redis }: { redis: RedisClient }): PendingTransactions {
  async function end(): Promise<string> {
    const [last] = await redis.xrevrange(pendingStreamKey, "+", "-", "COUNT", 1);
    return last?.[0] ?? "0-0";
  }

  async function after(cursor: string): Promise<{ hashes: string[]; cursor: string }> {
    const entries = await redis.xrange(pendingStreamKey, `(${cursor}`, "+", "COUNT", hashesAtOnceMax);
    const hashes = entries.map(([, fields]) => fields[1] ?? "");
    return { hashes, cursor: entries.at(-1)?.[0] ?? cursor };
  }

  async function followUntil(isOver: () => boolean, tell: (hashes: readonly string[]) => Promise<void>) {
    let cursor: string | undefined;
    while (!isOver()) {
      try {
        cursor ??= await end();
        const read = await after(cursor);
        cursor = read.cursor;
        if (read.hashes.length > 0 && !isOver()) await tell(read.hashes);
        if (read.hashes.length === hashesAtOnceMax) continue;
      } catch {
        // Redis does not answer: what comes meanwhile is read once it does.
      }
      await sleep(lookEveryMs, undefined, { ref: false });
    }
  }

  return {
    async publish(hash) {
      try {
        await runScript({
          redis,
          script: publishScript,
          keys: [pendingStreamKey, pendingSeenKey(hash)],
          args: [hash, streamLengthMax, seenMs],
        });
      } catch {
        // Without Redis no subscriber sees it before it is mined.
      }
    },
    end,
    after,
    follow(tell) {
      let isOver = false;
      void followUntil(() => isOver, tell);
      return () => {
        isOver = true;
      };
    },
  };
}
