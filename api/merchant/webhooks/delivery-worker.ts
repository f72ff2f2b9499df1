import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { createFollowLoop } from "../../follower/follow-loop.ts";
import { publicId } from "../public-id.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { type ClaimedDelivery, claimDeliveries, claimedAtOnceMax, finishDelivery } from "./delivery-store.ts";
import { openSecrets } from "./endpoint.ts";
import { createDeliveredWriter } from "./finish-delivered.ts";
import { judgeAttempt } from "./judge-attempt.ts";
import type { SendWebhook, SentWebhook } from "./send-webhook.ts";

const atOnceMax = 64;
const stopWithinMs = 2000;

/** After what was done for a delivery: what a test breaks off there. */
export type DeliveryPoint = "claimed" | "sent" | "finished";

/**
 * Sends what the outbox has. Any number of processes do so at the same time: each delivery is one's for the time of a lease. What
 * was sent and not written down is sent again, with the same id: at least once, never not at all.
 */
export function createDeliveryWorker({
  pool,
  sender,
  sealer,
  logger,
  now,
  random = Math.random,
  pollMs = 500,
  retryMinMs = 250,
  leaseForSeconds,
  scheduleMs,
  monotonicMs = () => performance.now(),
  atPoint = () => {},
  onAttempt = () => {},
}: {
  pool: PostgresPool;
  /** Ends with the worker. */
  sender: { send: SendWebhook; stop(): Promise<void> };
  sealer: Sealer;
  logger: Pick<Logger, "info" | "warn">;
  now: () => number;
  random?: () => number;
  /** How often it is looked whether something is due. */
  pollMs?: number;
  retryMinMs?: number;
  leaseForSeconds?: number;
  scheduleMs?: readonly number[];
  monotonicMs?: () => number;
  atPoint?: (point: DeliveryPoint) => void | Promise<void>;
  onAttempt?: (outcome: "delivered" | "waiting" | "dead") => void;
}) {
  const delivered = createDeliveredWriter({ pool });
  const underway = new Set<Promise<void>>();
  let isStopped = false;
  let isAbandoned = false;

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    await atPoint("claimed");
    const sent = await sendOnce(delivery);
    // It was broken off by us, which says nothing of the receiver: another process tries it when the lease ends.
    if (isAbandoned) return;
    await atPoint("sent");
    const judgement = judgeAttempt({ ...sent, tries: delivery.tries, nowMs: now(), random, scheduleMs });
    // Where it cannot be written down, the lease ends and it is tried again.
    const isMine =
      judgement.state === "delivered"
        ? await delivered.finish({ delivery, sent })
        : await finishDelivery(pool, { delivery, sent, judgement });
    if (isMine) onAttempt(judgement.state);
    await atPoint("finished");
  }

  function sendOnce(delivery: ClaimedDelivery): Promise<SentWebhook> {
    const { type, body, url, eventId } = delivery;
    const secrets = openSecrets(sealer, { ...delivery, id: delivery.endpointId });
    return secrets === undefined
      ? Promise.resolve(sealedForGood)
      : sender.send({ url, type, body, secrets, id: publicId("evt", eventId) });
  }

  function begin(delivery: ClaimedDelivery): void {
    const work = deliver(delivery)
      .catch((err: unknown) => {
        const { eventId } = delivery;
        logger.warn({ err, eventId }, "what came of a webhook was not written down; it is sent again");
      })
      .finally(() => {
        underway.delete(work);
        loop.wake();
      });
    underway.add(work);
  }

  const loop = createFollowLoop({
    async round() {
      const free = atOnceMax - underway.size;
      if (free <= 0 || isStopped) return false;
      const { claimed, hasMore } = await claimDeliveries(pool, {
        limit: Math.min(free, claimedAtOnceMax),
        ...(leaseForSeconds === undefined ? {} : { leaseForSeconds }),
      });
      for (const delivery of claimed) begin(delivery);
      return hasMore;
    },
    isLeader: () => true,
    onFailure: () => {},
    texts: { fails: "webhooks cannot be sent", isOver: "webhooks are sent again" },
    ...{ pollMs, retryMinMs, logger, monotonicMs },
  });

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    underway: () => underway.size,
    /** Lets what is under way end, for two seconds. */
    async stop(): Promise<void> {
      isStopped = true;
      await loop.stop();
      const ended = new AbortController();
      const late = sleep(stopWithinMs, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([Promise.all(underway), late]);
      ended.abort();
      isAbandoned = true;
      await sender.stop();
      await Promise.all(underway);
    },
  };
}

const sealedForGood: SentWebhook = {
  ...{ status: null, tookMs: 0, answerStart: "", retryAfter: undefined, request: null },
  error: "The secret cannot be read any more: rotate it",
};
