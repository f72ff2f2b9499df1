import { ChainUnavailableError } from "../lib/chain/rpc-client.ts";
import { type Refusal, refusal } from "../lib/http-service/refusal.ts";
import { isPostgresFailure } from "../lib/postgres/postgres-failure.ts";

const retrySoon = { retryAfterMs: 1000 };

/** What a client is told of a chain or database that is away; undefined for an error of our own. */
export function explainFailure(error: unknown): Refusal | undefined {
  if (error instanceof ChainUnavailableError) {
    return refusal(
      "upstream_unavailable",
      "The chain cannot be asked at the moment; try again shortly",
      retrySoon,
    );
  }
  if (isPostgresFailure(error)) {
    return refusal(
      "service_unavailable",
      "The index cannot be asked at the moment; try again shortly",
      retrySoon,
    );
  }
  return undefined;
}
