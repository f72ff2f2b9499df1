import type { Upstream } from "../../upstream/upstream.ts";
import type { Settle } from "../../upstream/upstream-result.ts";
import type { PendingTransactions } from "./pending-transactions.ts";

/** Decorates the upstream: a transaction that a validator accepts is published to all gateways. */
export function publishSends(upstream: Upstream, pending: Pick<PendingTransactions, "publish">): Upstream {
  const publish: Settle = (answer) => {
    if (typeof answer === "string" || "start" in answer) return;
    const { afterId } = answer;
    const hash = sentPattern.exec(typeof afterId === "string" ? afterId : "")?.[1];
    if (hash !== undefined) void pending.publish(hash.toLowerCase());
  };
  return {
    ...upstream,
    submit(call, options, settle) {
      if (call.rule.name !== "eth_sendRawTransaction") return upstream.submit(call, options, settle);
      upstream.submit(call, options, (answer) => {
        publish(answer);
        settle(answer);
      });
    },
  };
}

const sentPattern = /"result"\s*:\s*"(0x[0-9a-fA-F]{64})"/;
