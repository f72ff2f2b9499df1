import { randomUUID } from "node:crypto";
import { deadlyCallsKey, deadlyStrikesKey, tracesRunningKey } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import { giveSlot, takeSlot } from "./trace-scripts.ts";

export type TraceSlots = ReturnType<typeof createTraceSlots>;
export type TraceSlot = { url: string; token: string };

type SlotRequest = {
  keyId: string;
  fingerprint: string;
  /** Healthy validators, best first. */
  urls: readonly string[];
  /** So many of them must be left without a trace. */
  spared: number;
  lifetimeMs: number;
};

/**
 * The places for traces: one at a time on a validator and one of a key, over all gateways. Redis decides. While it does not
 * answer, each process goes by its own places, which it always checks first.
 */
export function createTraceSlots({
  redis,
  strikesMax,
  monotonicMs,
}: {
  redis: RedisClient;
  strikesMax: number;
  monotonicMs: () => number;
}) {
  const own = new Map<string, { keyId: string; token: string; endsAtMs: number }>();

  function ownChoice({ keyId, urls, spared }: SlotRequest): string | undefined {
    const nowMs = monotonicMs();
    for (const [url, { endsAtMs }] of own) if (endsAtMs <= nowMs) own.delete(url);
    for (const running of own.values()) if (running.keyId === keyId) return undefined;
    const free = urls.filter((url) => !own.has(url));
    return free.length > spared ? free[0] : undefined;
  }

  return {
    async take(request: SlotRequest): Promise<TraceSlot | "busy" | "deadly" | "struck"> {
      const url = ownChoice(request);
      if (url === undefined) return "busy";
      const { keyId, fingerprint, urls, spared, lifetimeMs } = request;
      const token = randomUUID();
      const hold = (chosen: string) => {
        own.set(chosen, { keyId, token, endsAtMs: monotonicMs() + lifetimeMs });
        return { url: chosen, token };
      };
      // Held while Redis decides, so that the key's next trace does not ask at the same time.
      hold(url);
      let said: unknown;
      try {
        said = await runScript({
          redis,
          script: takeSlot,
          keys: [tracesRunningKey, deadlyCallsKey, deadlyStrikesKey(keyId)],
          args: [token, keyId, fingerprint, lifetimeMs, spared, strikesMax, ...urls],
        });
      } catch {
        return { url, token };
      }
      if (own.get(url)?.token === token) own.delete(url);
      if (typeof said === "string" && said.startsWith("=")) return hold(said.slice(1));
      return said === "deadly" || said === "struck" ? said : "busy";
    },
    give({ url, token }: TraceSlot): void {
      if (own.get(url)?.token === token) own.delete(url);
      runScript({ redis, script: giveSlot, keys: [tracesRunningKey], args: [url, token] }).catch(() => {
        // The place ends by itself.
      });
    },
    running: () => own.size,
  };
}
