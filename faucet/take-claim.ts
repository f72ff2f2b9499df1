import type { Logger } from "pino";
import { errorTable } from "../lib/errors.ts";
import { isRefusal, type Refusal, refusal } from "../lib/http-service/refusal.ts";
import { isRedisFailure } from "../lib/redis/redis-failure.ts";
import type { AllowlistStore } from "./allowlist/allowlist-store.ts";
import type { WalletChain } from "./chain/wallet-chain.ts";
import type { Admission, ClaimScope } from "./claims/admission.ts";
import type { Attempts } from "./claims/attempts.ts";
import type { FaucetMetrics } from "./metrics.ts";
import { type Admitted, admit } from "./stages/admit.ts";
import { checkFunds } from "./stages/check-funds.ts";
import { createCheckRecipient } from "./stages/check-recipient.ts";
import { findEntry } from "./stages/find-entry.ts";
import { readClaim } from "./stages/read-claim.ts";
import { readRecipient } from "./stages/read-recipient.ts";
import { refuseBots } from "./stages/refuse-bots.ts";
import type { FaucetWallet } from "./wallet.ts";

/** Where taking a claim can be cut short; the crash tests end the process there. */
export type TakePoint = "before claim" | "after claim";

export type TakeClaim = (request: {
  /** As it was parsed, of any shape. */
  body: unknown;
  scope: ClaimScope;
  idempotencyKey: string | undefined;
  requestId: string;
}) => Promise<Admitted | Refusal>;

/**
 * A claim's way through the faucet, in order. The size was checked before the body was parsed. What is refused before
 * `admit` touches no limit of claims and no wallet; how often a client is refused has a limit of its own.
 */
export function createTakeClaim({
  allowlist,
  admission,
  attempts,
  chain,
  readBalance,
  settings,
  wallet,
  wakePayer,
  metrics,
  logger,
  atPoint,
}: {
  allowlist: AllowlistStore;
  admission: Admission;
  attempts: Attempts;
  chain: WalletChain;
  readBalance: () => Promise<bigint | undefined>;
  /** Read for each claim. */
  settings: { readonly amount: bigint };
  wallet: Pick<FaucetWallet, "feeMaxWei">;
  wakePayer: () => void;
  metrics: FaucetMetrics;
  logger: Logger;
  atPoint: (point: TakePoint) => void | Promise<void>;
}): TakeClaim {
  const checkRecipient = createCheckRecipient({ chain });

  const take: TakeClaim = async ({ body, scope, idempotencyKey }) => {
    const attempt = await attempts.begin(scope);
    if (isRefusal(attempt)) return attempt;
    const outcome = await judge({ body, scope, idempotencyKey });
    // A refusal for the faucet's own sake (paused, empty, starting) does not count: it tells nothing, and the claim comes again.
    if (!isRefusal(outcome) || errorTable[outcome.refused].status >= 500) await attempt.giveBack();
    return outcome;
  };

  const judge = async ({
    body,
    scope,
    idempotencyKey,
  }: Omit<Parameters<TakeClaim>[0], "requestId">): Promise<Admitted | Refusal> => {
    const read = readClaim(body);
    if (isRefusal(read)) return read;
    const bot = refuseBots({ website: read.website, metrics });
    if (bot !== undefined) return bot;
    const to = readRecipient(read.address);
    if (isRefusal(to)) return to;
    const { address } = to;
    const entry = await findEntry({ address, allowlist, amountWei: settings.amount });
    if (isRefusal(entry)) return entry;
    const recipient = await checkRecipient(address);
    if (isRefusal(recipient)) return recipient;
    const { affordable } = checkFunds({
      balanceWei: await readBalance(),
      amountWei: entry.amountWei,
      feeMaxWei: wallet.feeMaxWei,
    });
    await atPoint("before claim");
    const admitted = await admit({
      admission,
      address,
      scope,
      idempotencyKey,
      amountWei: entry.amountWei,
      recipientChecked: recipient.checked,
      affordable,
    });
    await atPoint("after claim");
    return admitted;
  };

  return async (request) => {
    const outcome = await take(request).catch((error: unknown) => {
      if (!isRedisFailure(error)) throw error;
      logger.warn({ err: error, requestId: request.requestId }, "a claim found no Redis");
      return unknownOutcome;
    });
    if (isRefusal(outcome)) {
      metrics.refusals.inc({ condition: outcome.refused });
    } else if (outcome.outcome === "repeated") {
      metrics.repeated.inc();
    } else {
      metrics.claims.inc();
      const { id, address, amountWei: amount } = outcome.claim;
      const { scope, requestId } = request;
      logger.info({ claim: id, address, amountWei: String(amount), scope, requestId }, "claim accepted");
      wakePayer();
    }
    return outcome;
  };
}

const unknownOutcome = refusal(
  "service_unavailable",
  "Whether the claim was taken is not known; send it again with the same Idempotency-Key",
  { reason: "outcome_unknown", retryAfterMs: 1000 },
);
