import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ErrorCondition } from "../lib/errors.ts";
import { registerBuildInfo } from "../lib/version.ts";
import { createLazyCounter } from "./lazy-counter.ts";

/**
 * The gateway's metrics, on its own registry. Labels are of closed sets only (methods of the table, conditions of the
 * error table, validators of the configuration): no text of a client ever becomes one. `gateway/README.md` documents
 * every name; a test holds that list true.
 */
export function createGatewayMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  const registers = [registry];
  let inFlight = () => 0;
  new Gauge({
    name: "tollgate_gateway_requests_in_flight",
    help: "HTTP requests that are being carried out",
    registers,
    collect() {
      this.set(inFlight());
    },
  });
  return {
    registry,
    requests: createLazyCounter<number>({
      name: "tollgate_gateway_requests_total",
      help: "HTTP requests answered, by HTTP status",
      label: "status",
      registers,
    }),
    requestSeconds: new Histogram({
      name: "tollgate_gateway_request_seconds",
      help: "Time from a request's head to its answer, in seconds",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
    /** `read` tells how many are being carried out. */
    showInFlight(read: () => number): void {
      inFlight = read;
    },
    frames: new Counter({
      name: "tollgate_gateway_frames_total",
      help: "Messages of WebSockets answered",
      registers,
    }),
    calls: createLazyCounter<string>({
      name: "tollgate_gateway_calls_total",
      help: "JSON-RPC calls carried out, from the cache or by a validator, by method",
      label: "method",
      registers,
    }),
    refusals: createLazyCounter<ErrorCondition>({
      name: "tollgate_gateway_refusals_total",
      help: "Requests and calls refused by the gateway, by condition of the error table",
      label: "condition",
      registers,
    }),
  };
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;
