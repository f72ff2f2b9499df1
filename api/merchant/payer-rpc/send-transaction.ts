import { hash as hashShape } from "../../../lib/chain/rpc-values.ts";
import { isRefusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { RequestLimiter } from "../../limits/request-limiter.ts";
import type { ChainQuestions } from "./chain-questions.ts";
import type { PaymentJudge } from "./judge-payment.ts";
import { noPayment, type Outcome } from "./outcome.ts";
import { readTransaction } from "./read-transaction.ts";

export type SendTransaction = (hex: string, client: string) => Promise<Outcome>;

/**
 * eth_sendRawTransaction for payments alone. Gas costs nothing on this network, so how many are sent is bounded too: by client,
 * and for all together. The same bytes again are answered with the hash again (the gateway's rule), and pay once.
 */
export function createSendTransaction({
  questions: { within, put },
  judge,
  clientLimiter,
  sharedLimiter,
}: {
  questions: Pick<ChainQuestions, "within" | "put">;
  judge: Pick<PaymentJudge, "payment">;
  clientLimiter: RequestLimiter;
  sharedLimiter: RequestLimiter;
}): SendTransaction {
  async function whyTooMany(limiter: RequestLimiter, client: string) {
    const { allowed, limit, windowSeconds, resetMs } = (await limiter.charge(client, 1)).standing;
    if (allowed) return undefined;
    return refusal(
      "rate_limited",
      `At most ${limit} transactions in ${windowSeconds} seconds; try again when retryAfterMs is over`,
      { retryAfterMs: resetMs },
    );
  }

  return async (hex, client) => {
    const transaction = readTransaction(hex);
    if (isRefusal(transaction)) return transaction;
    const { hash, ...payment } = transaction;
    if (payment.value === 0n) return noPayment("A transaction without value pays nothing");
    const tooMany = await whyTooMany(clientLimiter, `${client}:sends`);
    if (tooMany !== undefined) return tooMany;
    return within(
      async () =>
        (await judge.payment(payment)) ??
        (await whyTooMany(sharedLimiter, "payer-rpc:everybody:sends")) ??
        put({
          method: "eth_sendRawTransaction",
          params: [hex],
          // Who answers with another hash did not send this one.
          result: hashShape.refine((told) => told === hash),
        }),
    );
  };
}
