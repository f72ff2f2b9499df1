import type { ErrorCondition } from "../../lib/errors.ts";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { Admission, AdmitResult, ClaimScope } from "../claims/admission.ts";

export type Admitted = Extract<AdmitResult, { outcome: "accepted" | "repeated" }>;

const shortRetryMs = 5000;
const longRetryMs = 60_000;

/** The one step that changes something: idempotency, limits and the claim, and the refusal if they say no. */
export async function admit({
  admission,
  ...claim
}: {
  admission: Admission;
  address: string;
  amountWei: bigint;
  scope: ClaimScope;
  recipientChecked: boolean;
  affordable: number;
  idempotencyKey: string | undefined;
}): Promise<Admitted | Refusal> {
  const result = await admission.admit(claim);
  const { limits } = result;
  const refuse = (
    refused: ErrorCondition,
    detail: string,
    more: { reason?: string; retryAfterMs?: number } = {},
  ) => refusal(refused, detail, { limits, ...more });
  switch (result.outcome) {
    case "accepted":
    case "repeated":
      return result;
    case "limited":
      return refuse("rate_limited", limitTexts[result.limit](claim.scope.kind), {
        reason: `limit_${result.limit}`,
        retryAfterMs: result.waitMs,
      });
    case "reused":
      return refuse(
        "idempotency_key_reused",
        "The Idempotency-Key came with a claim for another address; use a new key for a new claim",
      );
    case "paused":
      return refuse("service_unavailable", "The faucet is paused by the people who run it", {
        reason: "paused",
        retryAfterMs: longRetryMs,
      });
    case "starting":
      return refuse("service_unavailable", "The faucet reads its earlier payments from the chain first", {
        reason: "starting",
        retryAfterMs: shortRetryMs,
      });
    case "full":
      return refuse("service_unavailable", "Too many claims wait already", {
        reason: "queue_full",
        retryAfterMs: shortRetryMs,
      });
    case "empty":
      return refuse(
        "faucet_empty",
        "The faucet's wallet does not hold enough for this claim and those before it",
        { retryAfterMs: longRetryMs },
      );
  }
}

const limitTexts = {
  address: () => "The address has had its claim; Retry-After tells when the next is possible",
  scope: (kind: ClaimScope["kind"]) =>
    kind === "team"
      ? "The team has made as many claims as it may; Retry-After tells when the next is possible"
      : "There were as many claims from your network address as may be; Retry-After tells when the next is possible",
  all: () => "The faucet has paid as much as it may in one day; Retry-After tells when it goes on",
};
