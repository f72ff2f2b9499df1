import { Counter, type Registry } from "prom-client";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import type { Outcome } from "./outcome.ts";

export type PayerRpcMetrics = { count(method: string, outcome: Outcome): void };

/** `other` stands for every method that is not of the table, so that nobody makes series of names. */
export function createPayerRpcMetrics(
  registry: Registry,
  { methods }: { methods: { has(method: string): boolean } },
): PayerRpcMetrics {
  const calls = new Counter({
    name: "api_payer_rpc_calls_total",
    help: "Calls at /rpc, by method (other: none of its own) and outcome: answered, failed (the chain's error), refused, limited, unavailable",
    labelNames: ["method", "outcome"],
    registers: [registry],
  });
  return {
    count(method, outcome) {
      calls.inc({ method: methods.has(method) ? method : "other", outcome: nameOf(outcome) });
    },
  };
}

function nameOf(outcome: Outcome): string {
  if ("json" in outcome) return "answered";
  if (!isRefusal(outcome)) return "failed";
  if (outcome.refused === "rate_limited") return "limited";
  const isAway = outcome.refused === "upstream_unavailable" || outcome.refused === "service_unavailable";
  return isAway ? "unavailable" : "refused";
}
