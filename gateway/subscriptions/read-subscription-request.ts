import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { type LogCriteria, readLogCriteria } from "../logs/log-criteria.ts";

/** What a client subscribes to. */
export type SubscriptionRequest =
  | { kind: "newHeads" | "syncing" }
  | { kind: "newPendingTransactions"; whole: boolean }
  | { kind: "logs"; criteria: LogCriteria };

export const subscriptionKinds = ["newHeads", "logs", "newPendingTransactions", "syncing"] as const;

/** Reads the parameters of `eth_subscribe`. Unknown ones are refused: the client would rely on them. */
export function readSubscriptionRequest(params: readonly unknown[]): SubscriptionRequest | Refusal {
  const [kind, option = null, ...more] = params;
  if (more.length > 0) return refusal("invalid_params", "eth_subscribe takes at most two parameters");
  switch (kind) {
    case "newHeads":
    case "syncing":
      return option === null ? { kind } : refusal("invalid_params", `${kind} takes no other parameter`);
    case "newPendingTransactions":
      return option === null || typeof option === "boolean"
        ? { kind, whole: option === true }
        : refusal(
            "invalid_params",
            "The second parameter of newPendingTransactions must be true (whole transactions), or missing",
          );
    case "logs":
      return readLogsRequest(option);
    default:
      return refusal("invalid_params", `The first parameter must be one of ${subscriptionKinds.join(", ")}`);
  }
}

/** Ignores `fromBlock` and the like, as validators do: a subscription is about blocks to come. */
function readLogsRequest(option: unknown): SubscriptionRequest | Refusal {
  if (typeof option !== "object" || Array.isArray(option)) {
    return refusal(
      "invalid_params",
      "The second parameter of logs must be an object with address and topics, or missing",
    );
  }
  const criteria = readLogCriteria({ ...option });
  return isRefusal(criteria) ? criteria : { kind: "logs", criteria };
}
