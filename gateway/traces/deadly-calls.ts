import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { deadlyCallsKey, deadlyStrikesKey } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import type { CallToForward } from "../methods/call.ts";
import { callFingerprint } from "./call-fingerprint.ts";
import { noteDeadly, readDeadly } from "./trace-scripts.ts";
import type { DeadlyCallSettings } from "./trace-settings.ts";

export type DeadlyCalls = ReturnType<typeof createDeadlyCalls>;

/** How often the notes of other gateways are read. A trace also asks Redis before it begins. */
const readEveryMs = 1000;

/**
 * Calls that ended a validator ("queries of death"). All gateways refuse them for a while. Redis holds them. This process
 * knows its own at once and the others' within a second, so a check costs no command, and nothing where there are none.
 */
export function createDeadlyCalls({
  redis,
  settings: { refusedMs, callRefusedMs, rememberedMax, strikesMax },
  logger,
  monotonicMs,
}: {
  redis: RedisClient;
  settings: DeadlyCallSettings;
  logger: Pick<Logger, "warn">;
  monotonicMs: () => number;
}) {
  // Fingerprint to when it ends, monotonic.
  const known = new LRUCache<string, number>({ max: rememberedMax });
  const strikes = new LRUCache<string, { count: number; endsAtMs: number }>({ max: rememberedMax });
  let isReading = false;
  let noted = 0;
  let struck = 0;
  const timer = setInterval(() => void read(), readEveryMs);
  timer.unref();

  async function read(): Promise<void> {
    if (isReading || redis.status !== "ready") return;
    isReading = true;
    try {
      const found = await runScript({ redis, script: readDeadly, keys: [deadlyCallsKey], args: [] });
      const nowMs = monotonicMs();
      if (Array.isArray(found)) {
        for (let at = 0; at + 1 < found.length; at += 2)
          known.set(String(found[at]), nowMs + Number(found[at + 1]));
      }
    } catch {
      // This process keeps its own notes, and the next read comes soon.
    } finally {
      isReading = false;
    }
  }

  function isStruck(keyId: string): boolean {
    const own = strikes.get(keyId);
    return own !== undefined && own.endsAtMs > monotonicMs() && own.count >= strikesMax;
  }

  return {
    /** Reads the notes of other gateways. */
    read,
    isStruck,
    has(call: CallToForward): boolean {
      if (known.size === 0) return false;
      const fingerprint = callFingerprint(call);
      const endsAtMs = known.get(fingerprint);
      if (endsAtMs === undefined) return false;
      if (endsAtMs > monotonicMs()) return true;
      known.delete(fingerprint);
      return false;
    },
    /** Notes a call that ended a validator. A trace counts as a strike of its key. Resolves when all gateways can know. */
    async note(call: CallToForward, { keyId, reason }: { keyId: string; reason: string }): Promise<void> {
      const fingerprint = callFingerprint(call);
      const isTrace = call.rule.trace !== undefined;
      const forMs = isTrace ? refusedMs : callRefusedMs;
      const endsAtMs = monotonicMs() + forMs;
      known.set(fingerprint, endsAtMs);
      noted += 1;
      if (isTrace) {
        strikes.set(keyId, { count: (strikes.get(keyId)?.count ?? 0) + 1, endsAtMs });
        if (isStruck(keyId)) struck += 1;
      }
      logger.warn({ method: call.rule.name, key: keyId, fingerprint, reason }, "a call ended its validator");
      const keys = [deadlyCallsKey, deadlyStrikesKey(keyId)];
      const args = [fingerprint, forMs, rememberedMax, isTrace ? 1 : 0];
      await runScript({ redis, script: noteDeadly, keys, args }).catch((error: unknown) => {
        logger.warn({ err: error }, "Redis did not take a deadly call: other gateways do not know it");
      });
    },
    stats: () => ({ noted, struck, known: known.size }),
    stop(): void {
      clearInterval(timer);
    },
  };
}
