import { DatabaseError } from "pg";

/**
 * Tells a PostgreSQL that is away or too busy (no connection, no answer in time, going down, not writable) from a fault of
 * our own. The statement may have been carried out.
 */
export function isPostgresFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return isFailureState(error.code ?? "");
  if ("code" in error && typeof error.code === "string" && networkCodes.has(error.code)) return true;
  return lostMessages.some((message) => error.message.startsWith(message));
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function isFailureState(state: string): boolean {
  return failureStates.has(state) || failureClasses.has(state.slice(0, 2));
}

/** Connection exceptions, insufficient resources, system errors. */
const failureClasses = new Set(["08", "53", "58"]);

const failureStates = new Set([
  "25006", // read_only_sql_transaction: a standby answers where the primary was
  "25P03", // idle_in_transaction_session_timeout
  "55P03", // lock_not_available: lock_timeout
  "57014", // query_canceled: statement_timeout
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
]);

const networkCodes = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** What node-postgres throws by itself has neither a class nor a code. */
const lostMessages = [
  "Connection terminated",
  "Client has encountered a connection error",
  "Client was closed",
  "Query read timeout",
  "timeout exceeded when trying to connect",
  "timeout expired",
];
