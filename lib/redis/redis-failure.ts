import { RedisSilentError } from "./redis-client.ts";

/**
 * Tells a Redis that is away (no connection, no answer in time, an error for an answer) from a fault of our own. The
 * command may have been carried out.
 */
export function isRedisFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof RedisSilentError || failureNames.has(error.name)) return true;
  return error.message === "Connection is closed." || error.message.startsWith("Stream isn't writeable");
}

/** What ioredis throws, by name: it exports none of these classes. */
const failureNames = new Set([
  "ReplyError",
  "MaxRetriesPerRequestError",
  "AbortError",
  "ClusterAllFailedError",
]);
