import { Counter, Gauge, type Registry } from "prom-client";
import type { Limiter } from "./limiter.ts";

/** Shows a limiter's state and counters at `/metrics`. They are read when somebody asks; a charge costs nothing more. */
export function registerLimiterMetrics({
  registry,
  limiter,
}: {
  registry: Registry;
  limiter: Pick<Limiter, "state" | "stats" | "keysWithLease">;
}): void {
  new Gauge({
    name: "tollgate_limits_degraded",
    aggregator: "max",
    help: "1 while Redis does not answer and limits are kept by this process alone",
    registers: [registry],
    collect() {
      this.set(limiter.state().answers ? 0 : 1);
    },
  });
  new Gauge({
    name: "tollgate_limits_leases",
    help: "Keys of which this process holds points in advance",
    registers: [registry],
    collect() {
      this.set(limiter.keysWithLease());
    },
  });
  counter({
    registry,
    name: "tollgate_limits_redis_commands_total",
    help: "Limit scripts sent to Redis, by script",
    label: "script",
    read: () => limiter.stats().commands,
  });
  counter({
    registry,
    name: "tollgate_limits_calls_total",
    help: "Charged calls, by what decided: a lease, Redis, a remembered refusal, this process alone, a full queue",
    label: "decided_by",
    read: () => limiter.stats().calls,
  });
  counter({
    registry,
    name: "tollgate_limits_points_total",
    help: "Points leased in advance and given back unused",
    label: "event",
    read: () => limiter.stats().points,
  });
  counter({
    registry,
    name: "tollgate_limits_refused_total",
    help: "Calls refused by a limit",
    read: () => ({ "": limiter.stats().refused }),
  });
}

function counter({
  registry,
  name,
  help,
  label,
  read,
}: {
  registry: Registry;
  name: string;
  help: string;
  label?: string;
  read: () => Readonly<Record<string, number>>;
}): void {
  new Counter({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, count] of Object.entries(read())) {
        this.inc(label === undefined ? {} : { [label]: toSnakeCase(value) }, count);
      }
    },
  });
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
