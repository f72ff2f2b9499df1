import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { RedisSilentError } from "../../lib/redis/limit-answer-time.ts";

const connectionLost = "connection lost";

export type RedisHealth = {
  /** Whether to ask Redis. Known without asking, so that a Redis that is down costs no call a timeout. */
  answers(): boolean;
  /** Changes each time Redis stops answering: what was learned before it changed no longer holds. */
  outage(): number;
  /** A command failed that was sent while `outage()` was `sentAfter`. If it has changed since, this changes nothing. */
  failed(error: unknown, sentAfter: number): void;
  /**
   * With a reason: Redis is not asked, although it may answer, until this is called without a reason. The same reason
   * again changes nothing.
   */
  hold(reason: string | undefined): void;
  /** `since` in wall milliseconds; `reason` only while Redis does not answer. */
  state(): { answers: boolean; since: number; reason: string | undefined };
  stop(): void;
};

/**
 * Keeps track of whether Redis answers. One failed command or a closed connection is enough for no. Only a `probe`
 * that succeeds means yes again. Probes run in the background, one at a time, `probeIntervalMs` apart.
 */
export function createRedisHealth({
  redis,
  probe,
  probeIntervalMs,
  now,
  logger,
  nextOutage,
}: {
  redis: Redis;
  probe: () => Promise<void>;
  probeIntervalMs: number;
  now: () => number;
  logger: Pick<Logger, "info" | "warn">;
  /** A number for `outage` that was not there before. */
  nextOutage: () => number;
}): RedisHealth {
  let answers = redis.status === "ready";
  let reason = answers ? undefined : "not connected yet";
  let since = now();
  let outage = nextOutage();
  let held: string | undefined;
  let probing = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const onReady = () => probeNow();
  const onClose = () => goDown(connectionLost);
  redis.on("ready", onReady);
  redis.on("close", onClose);
  probeNow();

  return {
    answers: () => answers,
    outage: () => outage,
    failed(error, sentAfter) {
      if (sentAfter !== outage) return;
      goDown(reasonOf(error));
      probeNow();
    },
    hold(why) {
      if (why === held) return;
      held = why;
      if (why === undefined) probeNow();
      else goDown(why);
    },
    state: () => ({ answers, since, reason: held ?? reason }),
    stop() {
      stopped = true;
      clearTimeout(timer);
      redis.off("ready", onReady);
      redis.off("close", onClose);
    },
  };

  function goDown(why: string): void {
    outage = nextOutage();
    reason = why;
    if (!answers) return;
    answers = false;
    since = now();
    const what = held === undefined ? "Redis does not answer" : "Redis is not to be trusted";
    logger.warn({ reason }, `${what}: limits are kept by this process alone`);
  }

  function goUp(): void {
    const downForMs = now() - since;
    answers = true;
    reason = undefined;
    since = now();
    logger.info({ downForMs }, "Redis answers: limits are exact");
  }

  function probeNow(): void {
    if (answers || probing || stopped || held !== undefined || redis.status !== "ready") return;
    clearTimeout(timer);
    probing = true;
    const sentAfter = outage;
    probe()
      .then(
        // An answer over a connection that has closed since says nothing about the next connection.
        () => sentAfter === outage && goUp(),
        (error: unknown) => {
          reason = reasonOf(error);
        },
      )
      .finally(() => {
        probing = false;
        if (answers || stopped) return;
        timer = setTimeout(probeNow, probeIntervalMs);
        timer.unref();
      });
  }

  function reasonOf(error: unknown): string {
    // ioredis has many messages for a connection that is closing, closed or not open yet.
    const connected = redis.status === "ready" && redis.stream.writable;
    if (!connected && !(error instanceof RedisSilentError)) return connectionLost;
    return error instanceof Error ? error.message : String(error);
  }
}
