import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { ApiConfig } from "../../config.ts";
import type { MerchantKeys } from "../open-merchant-keys.ts";
import { createDeliveryWorker, type DeliveryPoint } from "./delivery-worker.ts";
import { createWebhookMetrics } from "./metrics.ts";
import { isPublicAddress, isPublicOrLoopback } from "./public-address.ts";
import { createWebhookSender } from "./send-webhook.ts";

const connectionsMax = 4;

/** How long a try may take, for how long it is one process's (longer than that), and how long after each try the next is made. */
export type WebhookTimes = { timeoutMs: number; leaseForSeconds: number; scheduleMs: readonly number[] };

/** What sends webhooks, as the configuration has it. Where nothing is sold there is nothing to send. */
export function createWebhookDelivery({
  config: { svcDev, profile, postgres },
  merchantKeys,
  registry,
  logger,
  now,
  atPoint,
  times,
}: {
  config: Pick<ApiConfig, "svcDev" | "profile" | "postgres">;
  merchantKeys: MerchantKeys | undefined;
  registry: Registry;
  logger: Logger;
  now: () => number;
  atPoint?: ((point: DeliveryPoint) => void) | undefined;
  /** Undefined: those that are promised. */
  times?: WebhookTimes | undefined;
}) {
  const { allowLoopback, dnsServers } = svcDev.webhooks;
  const httpsOnly = profile === "production";
  const { timeoutMs, ...workerTimes } = times ?? {};
  const sender = createWebhookSender({
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...{ httpsOnly, dnsServers, now },
    isAllowed: allowLoopback && !httpsOnly ? isPublicOrLoopback : isPublicAddress,
  });
  const pool = createPostgresPool({ url: postgres.url, name: "api webhooks", logger, connectionsMax });
  const worker =
    merchantKeys === undefined
      ? undefined
      : createDeliveryWorker({
          ...{ pool, sender, sealer: merchantKeys.sealer, logger, now, ...workerTimes },
          ...(atPoint === undefined ? {} : { atPoint }),
          onAttempt: (outcome) => attempts.inc({ outcome }),
        });
  const attempts = createWebhookMetrics(registry, { underway: () => worker?.underway() ?? 0 });

  return {
    ...{ httpsOnly, send: sender.send },
    /** After the migrations. */
    start: () => worker?.start(),
    async stop(): Promise<void> {
      await (worker?.stop() ?? sender.stop());
      await pool.end();
    },
  };
}
