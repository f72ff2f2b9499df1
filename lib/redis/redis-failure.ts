import { RedisSilentError } from "./limit-answer-time.ts";

/**
 * Tells a Redis that is away (no connection, no answer in time, an error for an answer) from a fault of our own. The
 * command may have been carried out.
 */
export function isRedisFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof RedisSilentError || failureNames.has(error.name)) return true;
  return failureMessages.some((message) => error.message.startsWith(message));
}

/** What ioredis throws, by name: it exports none of these classes. */
const failureNames = new Set([
  "ReplyError",
  "MaxRetriesPerRequestError",
  "AbortError",
  "ClusterAllFailedError",
  "ClusterNodeAwayError",
]);

/** What it throws as a plain Error. */
const failureMessages = [
  "Connection is closed.",
  "Stream isn't writeable",
  "Cluster isn't ready",
  "None of startup nodes is available",
  "Too many Cluster redirections",
];
