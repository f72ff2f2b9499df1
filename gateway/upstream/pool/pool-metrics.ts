import { Counter, Gauge, type Registry } from "prom-client";
import type { ReceiveBudget } from "../../answer-budget/receive-budget.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { waiting } from "./lanes.ts";
import { laneNames } from "./upstream-call.ts";
import { inFlight, lengthBuckets, type Validator } from "./validator.ts";

/**
 * Registers the pool's metrics. They are read when they are scraped, because counting into labels costs more than the rest
 * of a call. `validator` is a validator's name.
 */
export function registerPoolMetrics({
  registry,
  validators,
  dispatcher,
  receiving,
}: {
  registry: Registry;
  /** Those that are configured. */
  validators: () => readonly Validator[];
  dispatcher: Pick<Dispatcher, "lanes">;
  receiving: Pick<ReceiveBudget, "heldBytes" | "refused">;
}): void {
  const registers = [registry];

  new Counter({
    name: "tollgate_gateway_validator_calls_total",
    help: "Calls sent to a validator, by its name",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, stats } of validators()) this.inc({ validator: label }, stats.calls);
    },
  });
  new Counter({
    name: "tollgate_gateway_validator_failures_total",
    help: "Calls that a validator failed to answer, which another one got where it may, by reason",
    labelNames: ["validator", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { label, stats } of validators()) {
        for (const [reason, count] of Object.entries(stats.failures))
          this.inc({ validator: label, reason }, count);
      }
    },
  });
  new Counter({
    name: "tollgate_gateway_validator_hedges_total",
    help: "Calls sent to a second validator because this one was late",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, stats } of validators()) this.inc({ validator: label }, stats.hedgedCalls);
    },
  });
  new Counter({
    name: "tollgate_gateway_validator_taken_out_total",
    help: "Times that a validator was ejected, by reason",
    labelNames: ["validator", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { label, health } of validators()) {
        for (const [reason, count] of health.ejections()) this.inc({ validator: label, reason }, count);
      }
    },
  });
  new Counter({
    name: "tollgate_gateway_validator_requests_total",
    help: "HTTP requests sent to a validator, by lane and by the most calls that they hold (calls: 1, 2, 4, … 64, more)",
    labelNames: ["validator", "lane", "calls"],
    registers,
    collect() {
      this.reset();
      for (const { label, stats } of validators()) {
        for (const [lane, counts] of stats.arrayLengths.entries()) {
          for (const [index, count] of counts.entries()) {
            const longest = lengthBuckets[index] ?? 0;
            const calls = Number.isFinite(longest) ? String(longest) : "more";
            if (count > 0) this.inc({ validator: label, lane: laneNames[lane] ?? "", calls }, count);
          }
        }
      }
    },
  });
  registerGauges({ registers, validators, dispatcher });
  new Gauge({
    name: "tollgate_gateway_received_bytes_held",
    help: "What answers of more than streamFromBytes hold while they come in from validators, in bytes",
    registers,
    collect() {
      this.set(receiving.heldBytes());
    },
  });
  new Counter({
    name: "tollgate_gateway_received_no_room_total",
    help: "Answers of validators that were given up because others on their way held all that they may",
    registers,
    collect() {
      this.reset();
      this.inc(receiving.refused());
    },
  });
}

function registerGauges({
  registers,
  validators,
  dispatcher,
}: {
  registers: Registry[];
  /** Those that are configured. */
  validators: () => readonly Validator[];
  dispatcher: Pick<Dispatcher, "lanes">;
}): void {
  new Gauge({
    name: "tollgate_gateway_validator_in_use",
    aggregator: "min",
    help: "Whether a validator gets calls: 1 it does, 0.5 half-open or silent at the moment, 0 ejected",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, health } of validators()) this.set({ validator: label }, inUse(health));
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_in_flight",
    help: "HTTP requests in flight to a validator, by lane; those given up count until they are answered",
    labelNames: ["validator", "lane"],
    registers,
    collect() {
      this.reset();
      for (const { label, lanes } of validators()) {
        for (const [index, lane] of lanes.entries()) {
          this.set({ validator: label, lane: laneNames[index] ?? "" }, inFlight(lane));
        }
      }
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_latency_seconds",
    aggregator: "average",
    help: "How long a validator takes for a request: a moving mean, and the 95th percentile of the latest 256",
    labelNames: ["validator", "lane", "stat"],
    registers,
    collect() {
      this.reset();
      for (const { label, lanes } of validators()) {
        for (const [index, { latency }] of lanes.entries()) {
          const labels = { validator: label, lane: laneNames[index] ?? "" };
          this.set({ ...labels, stat: "mean" }, latency.meanMs() / 1000);
          this.set({ ...labels, stat: "p95" }, latency.p95Ms() / 1000);
        }
      }
    },
  });
  new Gauge({
    name: "tollgate_gateway_queue_calls",
    help: "Calls that wait for a connection to a validator, by lane",
    labelNames: ["lane"],
    registers,
    collect() {
      for (const lane of dispatcher.lanes) this.set({ lane: laneNames[lane.index] ?? "" }, waiting(lane));
    },
  });
}

function inUse(health: Validator["health"]): number {
  if (health.state() === "open") return 0;
  return health.state() === "half-open" || health.isSuspect() ? 0.5 : 1;
}
