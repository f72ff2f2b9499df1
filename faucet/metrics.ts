import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { registerBuildInfo } from "../lib/version.ts";

/**
 * The faucet's metrics, on its own registry. Labels are of closed sets only. `faucet/README.md` documents every name; a
 * test holds that list true.
 */
export function createFaucetMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({ name: `tollgate_faucet_${name}`, help, registers });
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `tollgate_faucet_${name}`, help, registers });
  return {
    registry,
    claims: counter("claims_total", "Claims that were accepted"),
    repeated: counter("repeated_claims_total", "Answers with an earlier claim, for its Idempotency-Key"),
    refusals: new Counter({
      name: "tollgate_faucet_refusals_total",
      help: "Requests that were refused, by condition of the error table",
      labelNames: ["condition"],
      registers,
    }),
    honeypot: counter("honeypot_total", "Claims whose field website was filled in"),
    ended: new Counter({
      name: "tollgate_faucet_ended_claims_total",
      help: "Claims that ended, by status",
      labelNames: ["status"],
      registers,
    }),
    confirmSeconds: new Histogram({
      name: "tollgate_faucet_confirm_seconds",
      help: "Time from a claim to its confirmation, in seconds",
      buckets: [0.5, 1, 2, 3, 4, 6, 8, 12, 20, 60, 300, 3600],
      registers,
    }),
    lost: counter("lost_nonces_total", "Claims signed again, because another transaction took their nonce"),
    outsideNonces: counter(
      "outside_nonces_total",
      "Nonces of the wallet that were used from outside the faucet",
    ),
    restored: counter("restored_claims_total", "Payments found on the chain that Redis did not know"),
    refusedSends: counter("refused_sends_total", "Payments that a node refused to take"),
    failedRounds: counter("failed_rounds_total", "Rounds of the payer that the chain or Redis cut short"),
    leader: gauge("leader", "1 on the replica that pays"),
    waiting: gauge("waiting_claims", "Claims that wait for a signature"),
    open: gauge("open_claims", "Claims that are signed and not ended"),
    paused: gauge("paused", "1 while an operator has paused the faucet"),
    balanceTokens: gauge("balance_tokens", "What the wallet holds, in tokens"),
    balanceLow: gauge("balance_low", "1 while the wallet holds less than lowBalance"),
    allowlistEntries: gauge("allowlist_entries", "Addresses on the allowlist"),
    allowlistBad: gauge(
      "allowlist_bad",
      "1 while the allowlist's file cannot be used and the list before it holds",
    ),
    paymentsWait: gauge("payments_wait", "1 while something keeps the leader from paying"),
  };
}

export type FaucetMetrics = ReturnType<typeof createFaucetMetrics>;
