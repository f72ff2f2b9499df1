import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { FaucetMetrics } from "../metrics.ts";

/**
 * The honeypot: a person does not see the field `website`, a script fills it in. The answer does not say how the script was
 * found out.
 */
export function refuseBots({
  website,
  metrics,
}: {
  website: unknown;
  metrics: Pick<FaucetMetrics, "honeypot">;
}): Refusal | undefined {
  if (website === undefined || website === "") return undefined;
  metrics.honeypot.inc();
  return refusal("request_refused", "The request was refused");
}
