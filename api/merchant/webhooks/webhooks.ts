import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { RequestLimiter } from "../../limits/request-limiter.ts";
import type { Orders } from "../orders/orders.ts";
import { notSelling } from "../purchase-gate.ts";
import type { Sealer } from "../secrets/sealer.ts";
import type { WalletTurns } from "../wallet-turns.ts";
import { enableWebhook, finishRotation, noWebhook, rotateSecret } from "./change-webhook.ts";
import { findDelivery, listDeliveries, replayEvent, replaySince } from "./delivery-log.ts";
import { findEndpoint } from "./endpoint.ts";
import { saveWebhook } from "./save-webhook.ts";
import type { SendWebhook } from "./send-webhook.ts";
import { testWebhook } from "./test-webhook.ts";
import { webhookRecordOf } from "./webhook-record.ts";
import { urlFault, urlProblem } from "./webhook-url.ts";

export type Webhooks = ReturnType<typeof createWebhooks>;

/** A wallet's one webhook: saved for a fee, tested, its secret changed, its deliveries looked at and sent again. */
export function createWebhooks({
  pool,
  orders,
  turns,
  sealer,
  send,
  testLimiter,
  httpsOnly,
  secretAgainMs,
  now,
}: {
  pool: PostgresPool;
  orders: Pick<Orders, "openWebhook" | "unpaid">;
  turns: WalletTurns;
  /** Undefined: nothing is sold here. */
  sealer: Sealer | undefined;
  send: SendWebhook;
  testLimiter: RequestLimiter;
  httpsOnly: boolean;
  secretAgainMs: () => number;
  now: () => number;
}) {
  async function refuseTooManyTests(wallet: string): Promise<Refusal | undefined> {
    const { allowed, limit, windowSeconds, resetMs } = (await testLimiter.charge(`webhook-test:${wallet}`, 1))
      .standing;
    if (allowed) return undefined;
    return refusal("rate_limited", `At most ${limit} tests of a webhook in ${windowSeconds} seconds`, {
      retryAfterMs: resetMs,
    });
  }

  return {
    async find(wallet: string) {
      const endpoint = await findEndpoint(pool, wallet);
      return endpoint === undefined ? null : webhookRecordOf(endpoint);
    },

    /** What is wrong with a URL, before it is saved. */
    urlFault: (url: string) => urlFault(url, { httpsOnly }),

    /** With the secret where it is new. */
    async save(
      wallet: string,
      { url, orderId, txHash }: { url: string; orderId: string | undefined; txHash: string | undefined },
    ) {
      if (sealer === undefined) return notSelling;
      const problem = urlProblem(url, { httpsOnly });
      if (problem !== undefined) return refusedUrl(problem);
      const given = { pool, wallet, url, orderId, sealer, secretAgainMs: secretAgainMs(), nowMs: now() };
      const saved = await turns.take(wallet, () => saveWebhook(given));
      if (isRefusal(saved)) return saved;
      if ("unpaid" in saved) {
        return orderId === undefined || saved.unpaid === undefined
          ? orders.openWebhook(wallet, url)
          : orders.unpaid(saved.unpaid, txHash);
      }
      return { webhook: webhookRecordOf(saved.endpoint), secret: saved.secret };
    },

    async test(wallet: string) {
      if (sealer === undefined) return notSelling;
      const refused = await refuseTooManyTests(wallet);
      return refused ?? testWebhook({ pool, wallet, send, sealer, now });
    },

    async rotate(wallet: string) {
      if (sealer === undefined) return notSelling;
      const rotated = await rotateSecret({ pool, wallet, sealer });
      if (isRefusal(rotated)) return rotated;
      return { ...webhookRecordOf(rotated.endpoint), secret: rotated.secret };
    },

    async finishRotation(wallet: string) {
      const endpoint = await finishRotation({ pool, wallet });
      return isRefusal(endpoint) ? endpoint : webhookRecordOf(endpoint);
    },

    async enable(wallet: string) {
      const endpoint = await enableWebhook({ pool, wallet });
      return isRefusal(endpoint) ? endpoint : webhookRecordOf(endpoint);
    },

    async replay(wallet: string, what: { eventId: string } | { since: Date }) {
      const endpoint = await findEndpoint(pool, wallet);
      if (endpoint === undefined) return noWebhook;
      if (endpoint.disabledAt !== null) return disabled;
      return "eventId" in what
        ? replayEvent(pool, { endpoint, ...what })
        : replaySince(pool, { endpoint, ...what });
    },

    deliveries: (wallet: string, page: Omit<Parameters<typeof listDeliveries>[1], "wallet">) =>
      listDeliveries(pool, { wallet, ...page }),
    delivery: (wallet: string, eventId: string) => findDelivery(pool, { wallet, eventId }),
  };
}

function refusedUrl(message: string): Refusal {
  return refusal("invalid_params", "Nothing is sent to this URL; see errors", {
    errors: [{ pointer: "/url", message }],
  });
}

const disabled = refusal(
  "request_refused",
  "The webhook is disabled: mend the receiver, enable it (POST /api/v1/svc-dev/webhooks/enable), then send again",
);
